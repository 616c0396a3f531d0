"""The keys of the small page that a running nuan shows to instruments."""

from pydantic import Field

from bot.config.section import Section


class MetricsPage(Section):
    """What `nuan run` shows to instruments: /metrics for Prometheus and /health, red (503) when something is wrong."""

    on: bool = Field(default=False, description="Whether /metrics (needs nuan[metrics]) and /health are served.")
    host: str = Field(
        default="127.0.0.1",
        min_length=1,
        max_length=253,
        description="Address to listen on. There is no password: let only this machine or your own network reach it.",
    )
    port: int = Field(default=9464, ge=1, le=65_535, description="Port to listen on.")
