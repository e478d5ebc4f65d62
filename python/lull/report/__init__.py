"""Records as a page: its tables and plots, the plots as SVG or PDF, the templates."""
