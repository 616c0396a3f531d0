"""The nouns of the house, one file each: frozen dataclasses, no behaviour beyond their own form."""
