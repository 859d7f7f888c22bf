import Foundation
import Glibc

/// A program started by the benchmark. Its owner must call `end`, which waits until it is gone.
final class ChildProcess {
    let pid: pid_t
    let name: String
    private(set) var input: FileHandle?
    private(set) var output: FileHandle?
    private var isGone = false

    /// - Parameters:
    ///   - log: the file for standard error, and for standard output unless that is read.
    ///   - isConversation: whether standard input is written and standard output is read.
    init(_ name: String, _ path: String, _ arguments: [String], log: URL, isConversation: Bool = false) throws {
        self.name = name
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, log.path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        let (toChild, fromChild) = (Pipe(), Pipe())
        if isConversation {
            let (read, write) = (toChild.fileHandleForReading, fromChild.fileHandleForWriting)
            posix_spawn_file_actions_adddup2(&actions, read.fileDescriptor, STDIN_FILENO)
            posix_spawn_file_actions_adddup2(&actions, write.fileDescriptor, STDOUT_FILENO)
        } else {
            posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
            posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO)
        }
        // The child inherits no other ends of the pipes, so that it sees their end.
        for pipe in [toChild, fromChild] {
            for handle in [pipe.fileHandleForReading, pipe.fileHandleForWriting] {
                _ = fcntl(handle.fileDescriptor, F_SETFD, FD_CLOEXEC)
            }
        }
        var pid: pid_t = 0
        var words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        let code = posix_spawn(&pid, path, &actions, nil, &words, environ)
        guard code == 0 else { throw BenchError.system("\(path) cannot be started", code) }
        self.pid = pid
        if isConversation {
            input = toChild.fileHandleForWriting
            output = fromChild.fileHandleForReading
        }
    }

    /// Whether it still runs.
    var isRunning: Bool {
        if !isGone, waitpid(pid, nil, WNOHANG) == pid { isGone = true }
        return !isGone
    }

    /// Sends a signal and waits until the process is gone; after `seconds` it is killed.
    func end(_ signal: Int32 = SIGTERM, within seconds: Double = 10) {
        guard isRunning else { return }
        kill(pid, signal)
        if !Instant.wait(upTo: seconds, until: { !isRunning }) {
            kill(pid, SIGKILL)
            waitpid(pid, nil, 0)
            isGone = true
        }
    }

    deinit { end(SIGKILL) }
}
