import Foundation
import Testing

@testable import vitals2mqtt_bench

/// What is counted in the output of `strace -f -yy`.
@Suite struct SystemCallsTests {
    @Test func `a call that another thread interrupts counts once, and a packet is a write to a socket`() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "strace-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        try """
        4101  futex(0x55d0, FUTEX_WAIT_PRIVATE, 2, NULL <unfinished ...>
        4102  write(20<TCP:[127.0.0.1:41234->127.0.0.1:1883]>, "2\\275\\4", 576) = 576
        4101  <... futex resumed>) = 0
        4103  write(17<anon_inode:[eventfd]>, "\\1\\0\\0\\0\\0\\0\\0\\0", 8) = 8
        4103  fdatasync(9</tmp/vitals.sqlite-wal>) = 0
        4104  +++ exited with 0 +++

        """.write(to: file, atomically: true, encoding: .utf8)
        let calls = try SystemCalls(in: file)
        #expect(["all", "futex", "write", "fdatasync", "packets"].map(calls.count) == [4, 1, 2, 1, 1])
        #expect(calls.count("pwrite64") == 0)
    }
}
