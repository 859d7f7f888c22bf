import Concurrency
package import GatewayKit
import Vitals

/// Reads the documents of an app. A session ends when no further document comes.
package struct PhoneDriver<App: PhoneApp>: DeviceDriver {
    package static var name: String { App.driver }
    package static var link: LinkKind { .documents }

    private let options: PhoneOptions

    package init(options: inout ConfigurationReader) {
        self.options = PhoneOptions(&options, known: App.metrics, sourceOption: App.sourceOption)
    }

    /// A driver that takes these metrics.
    init(metrics: [Metric] = App.metrics, source: String? = nil) {
        options = PhoneOptions(metrics: metrics, source: source)
    }

    package func withSession(
        over link: Link, context: SessionContext, _ body: @Sendable (any DeviceSession) async throws -> Void
    ) async throws {
        guard case .documents(let documents) = link else {
            throw DeviceError(.failure, "The driver \(App.driver) needs a link for documents.")
        }
        let session = PhoneSession<App>(options, context)
        let ending = Promise<any Error>()
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    // The reader of the events gets the end before the group does.
                    do { try await session.serve(documents) } catch {
                        ending.fulfil(error)
                        session.close(error)
                    }
                }
                defer {
                    session.close(nil)
                    group.cancelAll()
                }
                try await body(session)
            }
        } catch {
            // The link says better than the session's body why it is over.
            throw ending.value ?? error
        }
    }
}
