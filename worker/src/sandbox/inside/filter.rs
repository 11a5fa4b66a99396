//! The filter for system calls (seccomp(2)).
//!
//! It names what is refused; everything else stays. Landlock judges TCP connections and the file system, so what is here are
//! the ways around it: other kinds of sockets, sockets in the file system, data sent along with a connection's first packet,
//! rings of requests that the filter cannot see into, and namespaces in which one is root.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter, sock_filter,
};

use super::error::InsideError;
use crate::sandbox::landlock::Sockets;

/// The bits of a socket's type that are the type itself; the others are flags (socket(2)).
const TYPE_MASK: u64 = 0xf;

/// The highest type that fits into the mask.
const LAST_TYPE: u64 = 0xf;

/// Namespaces that clone(2) can make.
const NAMESPACES: u64 = (libc::CLONE_NEWUSER
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWCGROUP) as u64;

/// Calls of Linux 6.13 and 6.17, which have the same number on every architecture.
const SETXATTRAT: libc::c_long = 463;
const REMOVEXATTRAT: libc::c_long = 466;
const FILE_SETATTR: libc::c_long = 469;

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Lays the filters on this process for good. Needs no new privileges to be given up already.
pub(super) fn lay_on(sockets: Sockets) -> Result<(), InsideError> {
    for program in programs(sockets)? {
        apply_filter(&program).map_err(failed)?;
    }
    Ok(())
}

fn failed(error: impl std::fmt::Display) -> InsideError {
    InsideError::Filter(error.to_string())
}

/// The filters, one for each error that a refused call fails with. The kernel asks all of them.
fn programs(sockets: Sockets) -> Result<Vec<BpfProgram>, InsideError> {
    [
        (refused_sockets(sockets)?, libc::EACCES),
        (refused_calls(sockets)?, libc::EPERM),
        (unknown_calls(sockets), libc::ENOSYS),
        (unsupported_calls(sockets), libc::EOPNOTSUPP),
    ]
    .into_iter()
    .filter(|(rules, _)| !rules.is_empty())
    .map(|(rules, errno)| program(rules, errno))
    .collect()
}

fn program(rules: Rules, errno: i32) -> Result<BpfProgram, InsideError> {
    let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(failed)?;
    let refusal = SeccompAction::Errno(errno.unsigned_abs());
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refusal, arch).map_err(failed)?;
    let program: BpfProgram = filter.try_into().map_err(failed)?;
    Ok(guarded(program))
}

/// On x86-64 the same calls have second numbers, with this bit, for programs of the x32 kind. They are all unknown here.
fn guarded(program: BpfProgram) -> BpfProgram {
    const X32: u32 = 0x4000_0000;
    if !cfg!(target_arch = "x86_64") {
        return program;
    }
    let load_number = sock_filter {
        code: 0x20,
        jt: 0,
        jf: 0,
        k: 0,
    };
    let unless_x32 = sock_filter {
        code: 0x35,
        jt: 0,
        jf: 1,
        k: X32,
    };
    let refuse = sock_filter {
        code: 0x06,
        jt: 0,
        jf: 0,
        k: libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs(),
    };
    [load_number, unless_x32, refuse].into_iter().chain(program).collect()
}

/// A condition on the lower half of an argument, which is all that the kernel looks at where it takes an `int`.
fn when(argument: u8, operator: SeccompCmpOp, value: u64) -> Result<SeccompCondition, InsideError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value).map_err(failed)
}

fn rule(conditions: Vec<SeccompCondition>) -> Result<SeccompRule, InsideError> {
    SeccompRule::new(conditions).map_err(failed)
}

/// One rule for each type that is not in `allowed`: the filter knows no "masked and not equal".
fn other_types(allowed: &[i32]) -> Result<Vec<SeccompRule>, InsideError> {
    (0..=LAST_TYPE)
        .filter(|kind| !allowed.iter().any(|allowed| u64::from(allowed.unsigned_abs()) == *kind))
        .map(|kind| rule(vec![when(1, SeccompCmpOp::MaskedEq(TYPE_MASK), kind)?]))
        .collect()
}

/// A rule that holds when the argument is none of `allowed`.
fn none_of(argument: u8, allowed: &[i32]) -> Result<SeccompRule, InsideError> {
    let conditions = allowed
        .iter()
        .map(|value| when(argument, SeccompCmpOp::Ne, u64::from(value.unsigned_abs())));
    rule(conditions.collect::<Result<_, _>>()?)
}

fn refused_sockets(sockets: Sockets) -> Result<Rules, InsideError> {
    let mut rules = Rules::new();
    match sockets {
        Sockets::OnlyTcp => {
            let mut socket = vec![none_of(0, &[libc::AF_INET, libc::AF_INET6])?];
            socket.extend(other_types(&[libc::SOCK_STREAM])?);
            socket.push(none_of(2, &[0, libc::IPPROTO_TCP])?);
            rules.insert(libc::SYS_socket, socket);
            // A pair is connected from birth. One for datagrams could still send to any other address, so it is refused.
            let mut pair = vec![none_of(0, &[libc::AF_UNIX])?];
            pair.extend(other_types(&[libc::SOCK_STREAM, libc::SOCK_SEQPACKET])?);
            rules.insert(libc::SYS_socketpair, pair);
            // Landlock judges bind(2); a socket that was never bound gets a port, at every address, from listen(2).
            rules.insert(libc::SYS_listen, Vec::new());
            // Data in the first packet connects without connect(2), which is where Landlock looks.
            for (call, flags) in [(libc::SYS_sendto, 3), (libc::SYS_sendmsg, 2), (libc::SYS_sendmmsg, 3)] {
                let fast_open = u64::from(libc::MSG_FASTOPEN.unsigned_abs());
                let refused = rule(vec![when(flags, SeccompCmpOp::MaskedEq(fast_open), fast_open)?])?;
                rules.insert(call, vec![refused]);
            }
        }
        // A network namespace holds these, but not, for one, the sockets between a virtual machine and its host.
        Sockets::OfTheNamespace => {
            let known = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];
            rules.insert(libc::SYS_socket, vec![none_of(0, &known)?]);
        }
    }
    Ok(rules)
}

/// What an agent has no use for and an attacker does.
fn refused_calls(sockets: Sockets) -> Result<Rules, InsideError> {
    let mut rules: Rules = [
        libc::SYS_unshare,
        libc::SYS_setns,
        libc::SYS_mount,
        libc::SYS_umount2,
        libc::SYS_pivot_root,
        libc::SYS_open_tree,
        libc::SYS_move_mount,
        libc::SYS_fsopen,
        libc::SYS_keyctl,
        libc::SYS_add_key,
        libc::SYS_request_key,
        libc::SYS_bpf,
        libc::SYS_perf_event_open,
        libc::SYS_userfaultfd,
        libc::SYS_syslog,
        libc::SYS_init_module,
        libc::SYS_finit_module,
        libc::SYS_kexec_load,
        libc::SYS_open_by_handle_at,
    ]
    .into_iter()
    .map(|call| (call, Vec::new()))
    .collect();
    let mut clone = Vec::new();
    for bit in (0..u64::BITS)
        .map(|shift| 1 << shift)
        .filter(|bit| NAMESPACES & bit != 0)
    {
        clone.push(rule(vec![when(0, SeccompCmpOp::MaskedEq(bit), bit)?])?);
    }
    rules.insert(libc::SYS_clone, clone);
    if sockets == Sockets::OnlyTcp {
        // Limits of other processes, which are everybody's here; its own are those of process 0.
        let others = rule(vec![when(0, SeccompCmpOp::Ne, 0)?])?;
        rules.insert(libc::SYS_prlimit64, vec![others]);
    }
    Ok(rules)
}

/// Programs get by without these where the kernel does not know them.
fn unknown_calls(sockets: Sockets) -> Rules {
    let mut calls = vec![
        libc::SYS_io_uring_setup,
        libc::SYS_io_uring_enter,
        libc::SYS_io_uring_register,
        // Its flags are behind a pointer; whoever is told that it is unknown uses clone(2).
        libc::SYS_clone3,
    ];
    if sockets == Sockets::OnlyTcp {
        // Shared memory, queues and semaphores that outlive who made them (sysvipc(7), mq_overview(7)), and that Landlock does
        // not know. In a namespace they are the agent's own and end with it.
        calls.extend([libc::SYS_shmget, libc::SYS_msgget, libc::SYS_semget, libc::SYS_mq_open]);
        // The newer forms of what is unsupported below.
        calls.extend([SETXATTRAT, REMOVEXATTRAT, FILE_SETATTR]);
    }
    calls.into_iter().map(|call| (call, Vec::new())).collect()
}

/// Programs get by without these where a file system does not have what they change: extended attributes, access lists among
/// them. Landlock does not judge them, and the kernel lets the owner change those of every file; in a namespace there are no
/// other files that could be written.
fn unsupported_calls(sockets: Sockets) -> Rules {
    if sockets != Sockets::OnlyTcp {
        return Rules::new();
    }
    [
        libc::SYS_setxattr,
        libc::SYS_lsetxattr,
        libc::SYS_fsetxattr,
        libc::SYS_removexattr,
        libc::SYS_lremovexattr,
        libc::SYS_fremovexattr,
    ]
    .into_iter()
    .map(|call| (call, Vec::new()))
    .collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn every_filter_can_be_built_and_begins_with_the_guard() {
        for (sockets, count) in [(Sockets::OnlyTcp, 4), (Sockets::OfTheNamespace, 3)] {
            let programs = programs(sockets).unwrap();
            assert_eq!(programs.len(), count);
            for program in programs {
                assert_eq!(program[1].k == 0x4000_0000, cfg!(target_arch = "x86_64"));
            }
        }
    }
}
