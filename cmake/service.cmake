# What lull-meterd, `lull ship` and `lull collect` need to run as services of a machine: units for systemd, the udev rule, their
# user, the line for Slurm, scripts for Flux and PBS, and alerts and dashboards. With -DLULL_INSTALL_SERVICE=ON, `cmake --install` puts them where systemd and udev look below the prefix, as the component
# `service`; the paths of programs in them are those of the installation.
option(LULL_INSTALL_SERVICE "Install the units, udev rule and user of lull-meterd, the service of a node" OFF)
if(LULL_INSTALL_SERVICE)
  set(made ${CMAKE_CURRENT_BINARY_DIR}/service)
  foreach(name lull-meterd.service lull-ship.service lull-collect.service lull-archive.service plugstack.conf flux/lull pbs/lull_hook.py)
    file(READ ${CMAKE_CURRENT_LIST_DIR}/../packaging/service/${name} text)
    string(REPLACE "/usr/lib/lull/python/lull/libexec" "${CMAKE_INSTALL_PREFIX}/${LULL_INSTALL_PACKAGE}/libexec" text "${text}")
    string(REPLACE "ExecStart=/usr/bin/lull" "ExecStart=${CMAKE_INSTALL_PREFIX}/bin/lull" text "${text}")
    file(WRITE ${made}/${name} "${text}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/../packaging/service/${name})
  endforeach()
  set(given ${CMAKE_CURRENT_LIST_DIR}/../packaging/service)
  install(FILES ${made}/lull-meterd.service ${given}/lull-meterd.socket ${given}/lull-meterd-accounts.socket
                ${made}/lull-ship.service ${given}/lull-ship.timer ${made}/lull-collect.service
                ${made}/lull-archive.service ${given}/lull-archive.timer
          DESTINATION lib/systemd/system COMPONENT service)
  install(FILES ${given}/60-lull-meters.rules DESTINATION lib/udev/rules.d COMPONENT service)
  install(FILES ${given}/lull.sysusers DESTINATION lib/sysusers.d RENAME lull.conf COMPONENT service)
  install(FILES ${made}/plugstack.conf DESTINATION ${LULL_INSTALL_SHARE}/lull COMPONENT service)
  install(PROGRAMS ${made}/flux/lull DESTINATION ${LULL_INSTALL_SHARE}/lull/flux COMPONENT service)
  install(FILES ${made}/pbs/lull_hook.py DESTINATION ${LULL_INSTALL_SHARE}/lull/pbs COMPONENT service)
  install(DIRECTORY ${given}/prometheus ${given}/grafana DESTINATION ${LULL_INSTALL_SHARE}/lull COMPONENT service)
endif()
