import asyncio,tempfile
from pathlib import Path
from tests.world import World
from tests.living import *
async def main():
    w=await World(Path(tempfile.mkdtemp())/'d').open()
    await found(w,"昨天去了医院复查","event")
    await w.say(".ai mem archive #1")
    await w.say("忘记昨天去了医院复查")
    print(w.replies[-3:], w.rows("select id,text,disabled_reason,purge_at from memory"))
    await w.say(".ai mem restore #1")
    print(w.replies[-1:], w.rows("select id,text,disabled_reason from memory"))
    await w.close()
asyncio.run(main())
