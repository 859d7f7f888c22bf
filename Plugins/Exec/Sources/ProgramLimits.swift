import GatewayKit
import Glibc

/// The resource limits of a program, as setrlimit(2) has them. `nil` means that it has no limit beside the gateway's own.
///
/// Each process has the limits for itself, and hands them on to its children.
struct ProgramLimits: Sendable, Hashable {
    /// Bytes of memory that a process may write to: its heap, private mappings and stacks of threads (`RLIMIT_DATA`). Not
    /// the address space (`RLIMIT_AS`): Go, Java and JavaScript reserve a lot of it and use little.
    var memory: Int64?
    /// Open files, pipes and sockets of a process (`RLIMIT_NOFILE`).
    var descriptors: Int?
    /// Processes and threads of the gateway's user, beyond which this program starts no more (`RLIMIT_NPROC`). The kernel
    /// counts all of that user, also the gateway's, and does not count for root.
    var processes: Int?

    /// Sizes for `memory`. With less not even a shell starts.
    static let memorySizes: ClosedRange<Int64> = (4 << 20)...(1 << 40)
    /// Numbers for `descriptors`. A program needs its three pipes, and one to load each of its libraries.
    static let descriptorCounts = 8...1_048_576
    /// Numbers for `processes`.
    static let processCounts = 1...1_048_576

    /// Whether there is no limit.
    var isEmpty: Bool { self == ProgramLimits() }

    /// The limits for a person, such as `64MiB of memory, 32 descriptors`.
    var text: String {
        [
            memory.map { "\(ByteSize(bytes: $0)) of memory" }, descriptors.map { "\($0) descriptors" },
            processes.map { "\($0) processes of its user" },
        ].compactMap(\.self).joined(separator: ", ")
    }

    /// Options of prlimit(1). A limit above the gateway's own stays at that one, which only root could raise.
    var options: [String] {
        func option(_ name: String, _ value: Int64?, _ resource: __rlimit_resource) -> String? {
            guard let value else { return nil }
            var own = rlimit()
            guard getrlimit(__rlimit_resource_t(resource.rawValue), &own) == 0 else { return "--\(name)=\(value)" }
            return "--\(name)=\(min(value, Int64(clamping: own.rlim_max)))"
        }
        return [
            option("data", memory, RLIMIT_DATA), option("nofile", descriptors.map(Int64.init), RLIMIT_NOFILE),
            option("nproc", processes.map(Int64.init), __RLIMIT_NPROC),
        ].compactMap(\.self)
    }

    /// Why the limit of processes does not do what its owner expects; `nil` if it does.
    func doubt(user: uid_t = getuid(), running: Int = Self.running(of: getuid())) -> String? {
        guard let processes else { return nil }
        if user == 0 {
            return "The limit of processes does nothing, since the gateway runs as root. Run it as another user."
        }
        guard running >= processes else { return nil }
        return "The program cannot start a process or a thread: its user already has \(running), the gateway's among "
            + "them. Set limits.processes higher."
    }

    /// How many processes and threads a user has (proc(5)).
    static func running(of user: uid_t) -> Int {
        guard let folder = opendir("/proc") else { return 0 }
        defer { closedir(folder) }
        var count = 0
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            var status = stat()
            guard Int(name) != nil, stat("/proc/\(name)/task", &status) == 0, status.st_uid == user else { continue }
            // A folder of each thread, beside the folder's own two names.
            count += max(1, Int(status.st_nlink) - 2)
        }
        return count
    }
}

extension ProgramLimits {
    /// Reads `limits`.
    init(_ reader: inout ConfigurationReader) {
        memory = reader.optionalBytes("memory", in: Self.memorySizes, about: "Memory that it writes to.")
        descriptors = reader.optionalInteger(
            "descriptors", in: Self.descriptorCounts, about: "Open files, pipes and sockets.")
        processes = reader.optionalInteger(
            "processes", in: Self.processCounts,
            about: "All processes and threads of the gateway's user; does nothing for root.")
    }
}
