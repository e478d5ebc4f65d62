lull_unit_test(stage stage/choice_test.cpp stage/handing_over_test.cpp stage/plan_test.cpp stage/roles_test.cpp stage/whole_file_test.cpp)
