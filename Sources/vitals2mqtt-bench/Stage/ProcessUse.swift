import Foundation
import Glibc

/// A process's use of the machine, from Linux's `/proc`.
struct ProcessUse: Sendable {
    /// Present and peak memory, in MB (10^6 bytes).
    var memory: Double
    var peak: Double
    /// Seconds of processor time since its start.
    var processor: Double

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
    }
}
