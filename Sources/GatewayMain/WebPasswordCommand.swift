import ArgumentParser
import Foundation
import Gateway

/// `web-password`.
struct WebPasswordCommand: GatewayCommand {
    static let configuration = CommandConfiguration(
        commandName: "web-password",
        abstract: "Makes the hash of a password for the pages, for password: of web:.",
        discussion: """
            Asks for the password twice in a terminal, without showing it; else it is the first line of standard input. The hash is \
            by yescrypt. With --write it becomes a file that only its owner may read, such as web-password beside the configuration, \
            which then says password: {file: web-password}; else it goes to standard output. Sessions end when the password changes.

            The exit status is 1 if the password is too short or the file cannot be written.
            """)

    @Option(help: ArgumentHelp("The file for the hash, which is replaced.", valueName: "file"))
    var write: String?

    func run(with plugins: PluginCatalogue) async throws {
        do {
            let password = try isatty(STDIN_FILENO) == 1 ? Self.asked() : readLine() ?? ""
            let hash = try PasswordTool.hash(of: password)
            guard let write else { return StandardOutput.write("\(hash)\n") }
            try PasswordTool.write(hash, to: write)
            StandardOutput.write("\(write)\n")
        } catch let failure as ToolFailure {
            StandardError.write("\(failure)\n")
            throw ExitCode(1)
        }
    }

    /// What a person types twice, unseen.
    private static func asked() throws -> String {
        var shown = termios()
        guard tcgetattr(STDIN_FILENO, &shown) == 0 else { return "" }
        var hidden = shown
        hidden.c_lflag &= ~tcflag_t(ECHO)
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden)
        defer { tcsetattr(STDIN_FILENO, TCSAFLUSH, &shown) }
        StandardError.write("Password: ")
        let first = readLine() ?? ""
        StandardError.write("\nOnce more: ")
        let second = readLine() ?? ""
        StandardError.write("\n")
        guard first == second else {
            StandardError.write("These are two different passwords.\n")
            throw ExitCode(1)
        }
        return first
    }
}
