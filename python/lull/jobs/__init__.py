"""The energy of a site's jobs: rows of nodes are sent to one collector, which stores them and answers questions."""
