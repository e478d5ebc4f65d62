; A ring resonator in two dimensions, after Meep's tutorial: every 2 units of time the whole field becomes an HDF5 file.
(set! geometry-lattice (make lattice (size 24 24 no-size)))
(set! geometry (list
  (make cylinder (center 0 0) (radius 5) (height infinity) (material (make dielectric (index 3.4))))
  (make cylinder (center 0 0) (radius 4) (height infinity) (material air))))
(set! pml-layers (list (make pml (thickness 2))))
(set! resolution 12)
(set! sources (list (make source (src (make gaussian-src (frequency 0.15) (fwidth 0.1))) (component Ez) (center 4.1 0))))
(run-until 60 (at-every 2 output-efield-z))
