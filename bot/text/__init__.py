"""Pure text work: markdown, splitting, folding, search terms, clipping, similarity, dates as text. No clock; of files only
vocabularies, tables and texts of prompts."""
