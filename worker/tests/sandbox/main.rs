//! What each level of the sandbox holds, tried by hostile programs: real processes, sockets and files.
//!
//! The same scenarios run at every level that claims them, under whatever user runs the tests; as an ordinary user as well
//! where that user is root.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

#[path = "../support/again.rs"]
mod again;
mod containers;
mod files;
mod limits;
mod network;
mod ordinary_user;
mod processes;
mod seat;
mod secrets;

use mcproctor_proto::assignment::SandboxLevel;

/// Runs every scenario at one level. They are named `held::LEVEL::SCENARIO`.
macro_rules! scenarios {
    ($module:ident, $level:expr, [$($room:ident :: $name:ident),* $(,)?]) => {
        mod $module {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $name() {
                    crate::$room::$name($level).await;
                }
            )*
        }
    };
}

/// The same for a level that confines: what all of them hold, and what it holds beside that.
macro_rules! confined {
    ($module:ident, $level:expr, [$($room:ident :: $name:ident),* $(,)?]) => {
        scenarios!(
            $module,
            $level,
            [
                files::reads_the_system_and_its_own_folders_only,
                files::writes_its_own_folders_only,
                files::links_out_of_the_work_folder_lead_nowhere,
                files::files_named_in_the_config_are_read,
                files::a_path_that_goes_up_again_leads_to_its_program,
                limits::a_fork_bomb_stays_within_its_limit,
                limits::a_file_that_grows_past_the_limit_is_cut_and_many_are_noticed,
                limits::memory_beyond_the_limit_ends_it_and_is_told,
                limits::whoever_needs_more_processes_than_the_limit_is_told_from_whoever_fails,
                limits::who_prints_without_end_is_ended_with_all_that_it_started,
                limits::the_groups_are_gone_afterwards,
                network::only_the_ways_that_were_opened_are_reached,
                network::large_and_slow_answers_come_through_the_ways_whole,
                network::no_unix_socket_of_the_host_is_reached,
                network::data_does_not_travel_with_the_first_packet,
                processes::arguments_input_output_and_exit_arrive_unchanged,
                processes::no_signal_and_no_debugger_reaches_the_worker,
                processes::it_has_no_capability_and_gains_none,
                processes::it_leaves_nothing_in_the_kernel_and_limits_nobody_else,
                processes::whoever_kills_what_holds_an_agent_is_not_the_agent,
                processes::it_makes_no_namespace_and_no_ring,
                processes::it_inherits_no_file_of_the_worker,
                processes::daemons_end_with_it,
                processes::signals_are_passed_on_and_the_dead_are_buried,
                processes::a_program_that_cannot_be_started_is_a_fault_of_the_sandbox,
                processes::nothing_is_left_after_many,
                processes::nothing_outlives_a_killed_worker,
                secrets::a_planted_key_is_found_nowhere,
                $($room::$name),*
            ]
        );
    };
}

mod held {
    use super::SandboxLevel;

    // What needs no wall.
    scenarios!(
        process,
        super::SandboxLevel::Process,
        [
            limits::a_fork_bomb_stays_within_its_limit,
            limits::memory_beyond_the_limit_ends_it_and_is_told,
            limits::whoever_needs_more_processes_than_the_limit_is_told_from_whoever_fails,
            limits::the_groups_are_gone_afterwards,
            network::large_and_slow_answers_come_through_the_ways_whole,
            processes::arguments_input_output_and_exit_arrive_unchanged,
            processes::nothing_is_left_after_many,
            secrets::a_planted_key_is_found_where_nothing_is_closed,
        ]
    );

    confined!(
        landlock,
        super::SandboxLevel::Landlock,
        [
            files::attributes_of_files_stay_as_they_are,
            network::no_other_kind_of_socket_is_made
        ]
    );

    confined!(
        bubblewrap,
        super::SandboxLevel::Bubblewrap,
        [
            files::its_paths_are_always_the_same,
            network::there_is_no_interface_but_loopback,
            processes::it_sees_no_process_but_its_own,
        ]
    );

    confined!(
        container,
        super::SandboxLevel::Container,
        [
            containers::its_first_process_and_its_way_in_are_closed_to_it,
            containers::the_engine_is_told_nothing_of_the_agent,
            files::its_paths_are_always_the_same,
            network::there_is_no_interface_but_loopback,
            processes::it_sees_no_process_but_its_own,
        ]
    );
}
