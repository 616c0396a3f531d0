"""What people ask to be kept, forgotten or undone, carried out."""
