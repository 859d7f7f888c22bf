import Logging
import ServiceLifecycle
import UnixSignals

/// Reloads the configuration with each `SIGHUP`, one after another.
struct HangupService: Service {
    let signals: UnixSignalsSequence
    let logger: Logger
    let reload: @Sendable () async throws -> Void

    func run() async throws {
        for await _ in signals.cancelOnGracefulShutdown() {
            logger.info("SIGHUP: reading the configuration again.")
            do {
                try await reload()
            } catch {
                // Mistakes were logged one by one when the file was read.
                let reason = (error as? ConfigurationError).map { "\($0.mistakes.count) mistakes" } ?? "\(error)"
                logger.error("The configuration stays as it was.", metadata: ["error": "\(reason)"])
            }
        }
    }
}
