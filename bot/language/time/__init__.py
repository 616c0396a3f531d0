"""Times and dates that a text names, in Simplified and Traditional Chinese and English; past and future."""
