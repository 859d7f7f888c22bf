import Glibc

extension Program {
    /// What is in the way of a start, as far as the program's files show it: the key of the configuration, and what to do.
    ///
    /// It is a warning, since the program may be installed later, or on another machine than the one that checks the
    /// configuration.
    var obstacle: (key: String, text: String)? {
        if !isFound { return ("command", notFound) }
        if let directory, directory.hasPrefix("/"), !directory.isDirectory { return ("directory", noDirectory) }
        return nil
    }

    /// Whether there is a file that this process may run. A path that is not absolute is an error, which is reported elsewhere.
    private var isFound: Bool {
        guard !name.contains("/") else { return name.isProgram || !name.hasPrefix("/") }
        guard !name.isEmpty else { return true }
        // An empty part of `PATH` is the working directory (environ(7)).
        return searchPath.split(separator: ":", omittingEmptySubsequences: false)
            .contains { "\($0.isEmpty ? "." : $0)/\(name)".isProgram }
    }

    /// Where the program is looked for.
    private var searchPath: String { environment()["PATH"] ?? "" }

    /// Why there is no such program, and what to do about it.
    var notFound: String {
        name.hasPrefix("/")
            ? "The program \(name) does not exist or may not be run. Check its path and permissions."
            : "The program \(name) is not found in \(searchPath). Write its absolute path."
    }

    /// Why the program cannot run in its directory.
    var noDirectory: String {
        "The directory \(directory ?? "") of the program \(name) does not exist or may not be entered."
    }
}

extension String {
    /// Whether this is the path of a regular file that this process may run.
    fileprivate var isProgram: Bool { kind == S_IFREG && access(self, X_OK) == 0 }

    /// Whether this is the path of a directory that this process may enter.
    fileprivate var isDirectory: Bool { kind == S_IFDIR && access(self, X_OK) == 0 }

    /// The kind of file at this path; `nil` if there is none.
    private var kind: mode_t? {
        var status = stat()
        return stat(self, &status) == 0 ? status.st_mode & S_IFMT : nil
    }
}
