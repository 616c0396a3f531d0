"""Pure text work: markdown, splitting, folding, search terms, clipping, similarity, dates as text. No clock, no file
system."""
