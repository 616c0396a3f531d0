"""What makes vectors of memories, for recalls by likeness: the keys of [memory.embedding]."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, SecretStr

from bot.config.kinds import proxy_url, server_url
from bot.config.section import Section

Provider = Literal["", "hash", "openai"]


class EmbeddingServer(Section):
    """Who makes the vectors of a hybrid recall; without one it goes by words alone."""

    provider: Provider = Field(
        default="",
        description="openai (a server that speaks its protocol), hash (counts parts of words: no server, no money, and "
        "no meaning) or empty for none.",
    )
    base_url: Annotated[str, AfterValidator(server_url)] = Field(
        default="", description="Address of the server's API; empty is that of [model], with its key and proxy."
    )
    api_key: SecretStr | None = Field(
        default=None,
        description="Key of the server; better kept in .env, in a variable like NUAN_MEMORY__EMBEDDING__API_KEY.",
    )
    model: str = Field(default="", pattern=r"^[^\x00-\x1f\x7f]*$", description="Name of the model that makes vectors.")
    proxy: Annotated[str, AfterValidator(proxy_url)] = Field(
        default="", description="Proxy, http://, https:// or socks5:// with host and port; empty for none."
    )
    dimensions: int | None = Field(
        default=None,
        ge=16,
        le=8_192,
        description="Numbers of a vector, where the model lets one choose, 16 to 8192; none leaves it to the model. A "
        "change makes all vectors anew.",
    )
    timeout_seconds: float = Field(
        default=15.0, gt=0, le=600, description="When a call for new vectors is given up, in seconds."
    )
    query_seconds: float = Field(
        default=2.0,
        gt=0,
        le=60,
        description="How long a question waits for its vector, in seconds; then words alone answer it.",
    )
    batch: int = Field(default=32, ge=1, le=256, description="Texts that one call brings at most, 1 to 256.")
    least_cosine: float = Field(
        default=0.25, ge=-1, le=1, description="Likeness below which two texts have nothing in common, -1 to 1."
    )
    price_input: float | None = Field(
        default=None,
        ge=0,
        description="Price of a million tokens, in budget.currency; none takes the public table's.",
    )
