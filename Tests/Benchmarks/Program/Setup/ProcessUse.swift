import Foundation
import Glibc

/// A process's use of the machine, from Linux's `/proc`.
struct ProcessUse: Sendable {
    /// Present and peak memory, in MB (10^6 bytes).
    var memory: Double
    var peak: Double
    /// Seconds of processor time since its start.
    var processor: Double
    /// Bytes that it made the kernel write to disks, in whole pages (`write_bytes` of `/proc/PID/io`).
    var written: Int64

    init(of pid: pid_t) throws {
        let status = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
        func megabytes(_ key: String) -> Double {
            let line = status.split(separator: "\n").first { $0.hasPrefix(key + ":") }
            let words = line?.split(whereSeparator: \.isWhitespace) ?? []
            return words.count > 1 ? (Double(words[1]) ?? 0) * 1024 / 1_000_000 : 0
        }
        memory = megabytes("VmRSS")
        peak = megabytes("VmHWM")
        // The program's name is in parentheses and may contain spaces.
        let stat = try String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)
        let fields = stat[(stat.lastIndex(of: ")") ?? stat.startIndex)...].split(separator: " ")
        let ticks = fields.count > 13 ? (Double(fields[12]) ?? 0) + (Double(fields[13]) ?? 0) : 0
        processor = ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
        let io = try String(contentsOfFile: "/proc/\(pid)/io", encoding: .utf8)
        let line = io.split(separator: "\n").first { $0.hasPrefix("write_bytes:") }
        written = line.flatMap { Int64($0.dropFirst("write_bytes: ".count)) } ?? 0
    }
}
