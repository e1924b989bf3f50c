"""Numbers of system calls on x86-64 and on aarch64.

Calls that are not listed are refused to contained processes. A list of allowed calls stays closed when a
kernel adds new ones.
"""

from typing import Final

ABSENT: Final = -1
"""Stands for a call that an architecture does not have."""

# fmt: off
ALLOWED: Final = {
    "read": (0, 63), "write": (1, 64), "readv": (19, 65), "writev": (20, 66), "pread64": (17, 67),
    "pwrite64": (18, 68), "open": (2, ABSENT), "openat": (257, 56), "close": (3, 57),
    "close_range": (436, 436), "stat": (4, ABSENT), "fstat": (5, 80), "lstat": (6, ABSENT),
    "newfstatat": (262, 79), "statx": (332, 291), "poll": (7, ABSENT), "ppoll": (271, 73),
    "select": (23, ABSENT), "pselect6": (270, 72), "lseek": (8, 62), "mmap": (9, 222),
    "mprotect": (10, 226), "munmap": (11, 215), "brk": (12, 214), "mremap": (25, 216),
    "madvise": (28, 233), "msync": (26, 227), "rt_sigaction": (13, 134), "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139), "rt_sigpending": (127, 136), "rt_sigtimedwait": (128, 137),
    "rt_sigsuspend": (130, 133), "sigaltstack": (131, 132), "access": (21, ABSENT),
    "faccessat": (269, 48), "faccessat2": (439, 439), "pipe": (22, ABSENT), "pipe2": (293, 59),
    "dup": (32, 23), "dup2": (33, ABSENT), "dup3": (292, 24), "pause": (34, ABSENT),
    "nanosleep": (35, 101), "clock_nanosleep": (230, 115), "getitimer": (36, 102),
    "setitimer": (38, 103), "alarm": (37, ABSENT), "timer_create": (222, 107),
    "timer_settime": (223, 110), "timer_gettime": (224, 108), "timer_getoverrun": (225, 109),
    "timer_delete": (226, 111), "timerfd_create": (283, 85), "timerfd_settime": (286, 86),
    "timerfd_gettime": (287, 87), "getpid": (39, 172), "gettid": (186, 178), "getppid": (110, 173),
    "getuid": (102, 174), "geteuid": (107, 175), "getgid": (104, 176), "getegid": (108, 177),
    "getresuid": (118, 148), "getresgid": (120, 150), "getgroups": (115, 158), "getpgrp": (111, ABSENT),
    "getpgid": (121, 155), "getsid": (124, 156), "uname": (63, 160), "flock": (73, 32),
    "fsync": (74, 82), "fdatasync": (75, 83), "ftruncate": (77, 46), "fallocate": (285, 47),
    "fadvise64": (221, 223), "getdents": (78, ABSENT), "getdents64": (217, 61), "getcwd": (79, 17),
    "chdir": (80, 49), "fchdir": (81, 50), "rename": (82, ABSENT), "renameat": (264, 38),
    "renameat2": (316, 276), "mkdir": (83, ABSENT), "mkdirat": (258, 34), "rmdir": (84, ABSENT),
    "unlink": (87, ABSENT), "unlinkat": (263, 35), "link": (86, ABSENT), "linkat": (265, 37),
    "symlink": (88, ABSENT), "symlinkat": (266, 36), "readlink": (89, ABSENT), "readlinkat": (267, 78),
    "umask": (95, 166), "getrlimit": (97, 163), "setrlimit": (160, 164), "getrusage": (98, 165),
    "sysinfo": (99, 179), "times": (100, 153), "sched_yield": (24, 124), "sched_getaffinity": (204, 123),
    "futex": (202, 98), "set_tid_address": (218, 96), "set_robust_list": (273, 99),
    "get_robust_list": (274, 100), "rseq": (334, 293), "membarrier": (324, 283), "getrandom": (318, 278),
    "clock_gettime": (228, 113), "clock_getres": (229, 114), "time": (201, ABSENT),
    "gettimeofday": (96, 169), "exit": (60, 93), "exit_group": (231, 94), "epoll_create": (213, ABSENT),
    "epoll_create1": (291, 20), "epoll_ctl": (233, 21), "epoll_wait": (232, ABSENT),
    "epoll_pwait": (281, 22), "eventfd": (284, ABSENT), "eventfd2": (290, 19),
    "restart_syscall": (219, 128), "getcpu": (309, 168), "wait4": (61, 260), "waitid": (247, 95),
    "statfs": (137, 43), "fstatfs": (138, 44), "copy_file_range": (326, 285), "sendfile": (40, 71),
    "recvfrom": (45, 207), "arch_prctl": (158, ABSENT), "shutdown": (48, 210),
}
"""Calls that any contained process may make: its own memory, files that Landlock lets it open, clocks."""

JUDGED: Final = {
    "ioctl": (16, 29), "fcntl": (72, 25), "prlimit64": (302, 261), "kill": (62, 129),
    "tkill": (200, 130), "tgkill": (234, 131), "clone": (56, 220), "clone3": (435, 435),
    "fork": (57, ABSENT), "vfork": (58, ABSENT), "socketpair": (53, 199), "sendto": (44, 206),
    "prctl": (157, 167),
}
"""Calls that depend on their arguments, or on the process that makes them."""
# fmt: on

ARCHITECTURES: Final = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
"""The column of the tables and the kernel's name (AUDIT_ARCH), by `platform.machine()`."""
