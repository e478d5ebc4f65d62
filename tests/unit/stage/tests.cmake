lull_unit_test(stage stage/blocks_test.cpp stage/description_test.cpp stage/gathering_test.cpp stage/handing_over_test.cpp stage/plan_test.cpp
               stage/roles_test.cpp stage/whole_file_test.cpp)
# The module that makes HDF5 files is opened by its name.
target_link_libraries(test_stage PRIVATE lull_stage_blocks lull_stage_hdf5)
add_dependencies(test_stage lull-stage-hdf5)
set_target_properties(test_stage PROPERTIES BUILD_RPATH $<TARGET_FILE_DIR:lull-stage-hdf5>)
