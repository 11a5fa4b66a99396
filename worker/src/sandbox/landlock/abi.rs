//! What the kernel's Landlock can do.

/// The first version that confines TCP (Linux 6.7); below it an agent would have the whole network.
pub(in crate::sandbox) const MINIMUM: i32 = 4;

/// The newest version whose rights are known here.
const NEWEST: i32 = 10;

/// The version of the kernel's Landlock, as far as it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::sandbox) struct Abi(pub(in crate::sandbox) i32);

impl Abi {
    /// That of the running kernel, `None` where Landlock is missing or switched off.
    pub(in crate::sandbox) fn of_kernel() -> Option<Self> {
        const VERSION: libc::c_uint = 1;
        // SAFETY: with this flag the call reads no memory and only says a number (landlock_create_ruleset(2)).
        let version = unsafe {
            libc::syscall(
                libc::SYS_landlock_create_ruleset,
                std::ptr::null::<libc::c_void>(),
                0_usize,
                VERSION,
            )
        };
        i32::try_from(version)
            .ok()
            .filter(|&version| version > 0)
            .map(|version| Self(version.min(NEWEST)))
    }

    /// What it confines, for people: `Landlock ABI 7: files, TCP, devices, signals, abstract sockets`. The versions are those of the
    /// kernel's documentation (userspace-api/landlock, "Kernel support").
    pub(in crate::sandbox) fn describe(self) -> String {
        let known = [
            (1, "files"),
            (4, "TCP"),
            (5, "devices"),
            (6, "signals"),
            (6, "abstract sockets"),
        ];
        let (held, missing): (Vec<_>, Vec<_>) = known.into_iter().partition(|(since, _)| self.0 >= *since);
        let names = |list: Vec<(i32, &str)>| list.into_iter().map(|(_, name)| name).collect::<Vec<_>>().join(", ");
        let mut text = format!("Landlock ABI {}: {}", self.0, names(held));
        if !missing.is_empty() {
            text.push_str("; not ");
            text.push_str(&names(missing));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_what_an_older_kernel_leaves_open() {
        assert_eq!(
            Abi(7).describe(),
            "Landlock ABI 7: files, TCP, devices, signals, abstract sockets"
        );
        assert_eq!(
            Abi(4).describe(),
            "Landlock ABI 4: files, TCP; not devices, signals, abstract sockets"
        );
    }
}
