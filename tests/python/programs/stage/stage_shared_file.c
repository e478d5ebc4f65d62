/* One file of all ranks, by MPI-IO.   stage_shared_file FILE */
#include <hdf5.h>
#include <mpi.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
  const hid_t file = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, access);
  H5Pclose(access);
  const int result = file < 0 || H5Fclose(file) < 0;
  MPI_Finalize();
  return result;
}
