lull_unit_test(stage stage/agreed_exchange_test.cpp stage/blocks_handed_over_test.cpp stage/blocks_test.cpp stage/choice_test.cpp stage/claim_test.cpp
               stage/description_test.cpp stage/figures_test.cpp stage/gathering_test.cpp stage/handing_over_test.cpp
               stage/idle_frequency_test.cpp stage/plan_test.cpp stage/progress_test.cpp stage/relay_test.cpp stage/roles_test.cpp stage/shared_files_test.cpp stage/files_of_nodes_test.cpp
               stage/storage_limit_test.cpp stage/verification_test.cpp stage/whole_file_test.cpp ${PROJECT_SOURCE_DIR}/src/stage/programs/relay.cpp)
# The meter is for the tree of a test. The module that makes HDF5 files is opened by its name.
target_link_libraries(test_stage PRIVATE lull_meter lull_stage_blocks lull_stage_hdf5 nlohmann_json::nlohmann_json)
add_dependencies(test_stage lull-stage-hdf5)
set_target_properties(test_stage PROPERTIES BUILD_RPATH $<TARGET_FILE_DIR:lull-stage-hdf5>)
target_compile_definitions(test_stage PRIVATE
  LULL_FIXTURE_WRITER="'${Python_EXECUTABLE}' '${PROJECT_SOURCE_DIR}/tests/fixtures/make_sysfs_fixtures.py'")
