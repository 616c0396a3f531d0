"""The `.ai` commands and their slash and menu twins: one registry says what there is, who may, and what it does."""
