from bot.memory.remarks import remarks
bad=0;n=0
for l in open('tests/remarks.tsv',encoding='utf-8'):
    t,w=l.rstrip('\n').split('\t'); n+=1
    got=remarks(t,("小暖","暖暖","nuan"))
    if got!=(() if w=='-' else (w,)): bad+=1; print(t,w,got)
print(n,bad)
import timeit
print(timeit.timeit(lambda: remarks("谢谢你还记得我怕狗，今天我们去哪里玩比较好呢"),number=1000),'ms', timeit.timeit(lambda: remarks("a "*60),number=1000),timeit.timeit(lambda: remarks("对"*120),number=1000),timeit.timeit(lambda: remarks("哈"*119+"x"),number=1000),timeit.timeit(lambda: remarks("真的太好"*29+"x"),number=1000))
