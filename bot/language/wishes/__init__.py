"""The grammar of 记住, 忘记 and 叫我: what is certain, and cues for the model."""
