"""Records as a page: tables, plots as SVG or PDF, and templates."""
