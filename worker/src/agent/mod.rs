//! Drivers: how each agent command line is started and its output read, one a file.
