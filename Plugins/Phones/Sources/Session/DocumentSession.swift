import Concurrency
import GatewayKit

/// A session that lives from the documents of its link.
protocol DocumentSession: DeviceSession {
    /// What its errors call it.
    static var title: String { get }
    /// What the session's reader gets.
    var inbox: EventInbox { get }
    /// Fulfilled at the end.
    var isOver: Promise<Void> { get }

    /// Takes documents until the link ends.
    func serve(_ documents: any DocumentLink) async throws
}

extension DocumentSession {
    /// Serves the documents until `body` returns or their link ends.
    func run(
        over documents: any DocumentLink, _ body: @Sendable (any DeviceSession) async throws -> Void
    ) async throws {
        let ending = Promise<any Error>()
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    // The reader of the events gets the end before the group does.
                    do { try await serve(documents) } catch {
                        ending.fulfil(error)
                        close(error)
                    }
                }
                defer {
                    close(nil)
                    group.cancelAll()
                }
                try await body(self)
            }
        } catch {
            // The link says better than the session's body why it is over.
            throw ending.value ?? error
        }
    }

    /// Ends the session.
    func close(_ error: (any Error)?) {
        isOver.fulfil(())
        switch error {
        case nil: inbox.finish()
        case let link as LinkError where link.code == .ended: inbox.finish()
        default: inbox.finish(DeviceError(.disconnected, "\(Self.title) is over: \(error.map { "\($0)" } ?? "")"))
        }
    }

    func ping() async throws(DeviceError) {
        if isOver.value != nil { throw DeviceError(.disconnected, "\(Self.title) is over.") }
    }
}
