"""Results as documents, and the forms in which documents are shown; the only room that uses rich."""
