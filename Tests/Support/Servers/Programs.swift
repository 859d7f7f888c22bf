import Concurrency

/// The programs started by a test. They end with `withPrograms`, even if the test fails.
package struct Programs: Sendable {
    fileprivate let runs = Mailbox<ChildProgram, Never>(capacity: .max)

    /// Starts the program `name`, given as a name in the search path or as an absolute path.
    package func start(_ name: String, _ arguments: [String]) -> ChildProgram {
        let program = ChildProgram(name, arguments)
        _ = runs.offer(program)
        return program
    }
}

/// Runs `body`, then ends its programs with `SIGTERM`, kills those that ignore it, and waits for their end.
package func withPrograms(_ body: (Programs) async throws -> Void) async throws {
    let programs = Programs()
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
            await withDiscardingTaskGroup { running in
                await programs.runs.forEach { program in running.addTask { await program.run() } }
                // Cancellation also ends the programs.
                running.cancelAll()
            }
        }
        defer {
            programs.runs.finish()
            group.cancelAll()
        }
        try await body(programs)
    }
}
