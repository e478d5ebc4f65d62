lull_unit_test(netsim netsim/topology_test.cpp netsim/ways_test.cpp netsim/figures_test.cpp netsim/parameters_test.cpp)
