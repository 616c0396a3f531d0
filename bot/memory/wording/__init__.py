"""The words of memory commands, one file for each language: tables only.

They are parts of patterns and decide nothing."""
