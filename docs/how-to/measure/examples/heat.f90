program heat
  use lull_meter
  implicit none
  integer, parameter :: n = 1500, steps = 200
  real(8), allocatable :: old(:, :), new(:, :)
  integer :: step

  allocate (old(n, n), new(n, n))
  call lull_region_begin("start")
  call random_number(old)
  new = old
  call lull_region_end("start")

  call lull_region_begin("steps")
  do step = 1, steps
    new(2:n - 1, 2:n - 1) = 0.25d0*(old(1:n - 2, 2:n - 1) + old(3:n, 2:n - 1) + &
                                     old(2:n - 1, 1:n - 2) + old(2:n - 1, 3:n))
    old = new
  end do
  call lull_region_end("steps")

  call lull_metric_sum("cells", real(n, 8)**2*steps, "1")
  print '(a, f8.5)', "mean ", sum(old)/real(n, 8)**2
end program heat
