#include <lull/meter.h>
#include <stdio.h>
#include <stdlib.h>

static int ascending(const void* a, const void* b) {
  const int x = *(const int*)a, y = *(const int*)b;
  return (x > y) - (x < y);
}

int main(void) {
  enum { count = 5000000 };
  int* const values = malloc(count * sizeof *values);
  if (!values) return 1;

  lull_region_begin("fill");
  for (int i = 0; i < count; ++i) values[i] = rand();
  lull_region_end("fill");

  lull_region_begin("sort");
  qsort(values, count, sizeof *values, ascending);
  lull_region_end("sort");

  lull_metric_sum("sorted", count, "1");
  printf("smallest %d\n", values[0]);
  free(values);
  return 0;
}
