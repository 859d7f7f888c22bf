import Foundation
import GatewayKit
import GatewayTesting
import TestSupport
import UnixSignals
import Vitals

/// A simulated wearable that speaks Vitals Link on standard input and output.
///
///     link-wearable band
///
/// A test can bypass the link in two ways: signals make the wearable send events, and standard error reports its process
/// id and the messages to it.
@main enum LinkWearable {
    static func main() async throws {
        // Without a reader, a write fails instead of ending the program.
        signal(SIGPIPE, SIG_IGN)
        let wearable = try Wearable(model: CommandLine.arguments.dropFirst().first ?? "band")
        let signals = await UnixSignalsSequence(trapping: .sigusr1, .sigusr2)
        try await wearable.withRecordingSession(clock: Wearable.clock) { recording in
            await withThrowingTaskGroup { group in
                group.addTask {
                    for await signal in signals {
                        await recording.send(signal == .sigusr1 ? Wearable.events : [Wearable.safeEvent])
                    }
                }
                group.addTask {
                    for count in 0... {
                        let deviceCalls = try await recording.deviceCalls.wait { $0.count > count }
                        StandardStreams.say("received \(deviceCalls[count].text)")
                    }
                }
                StandardStreams.say("process \(ProcessInfo.processInfo.processIdentifier)")
                await LinkServer(recording, over: StandardStreams()).run()
                group.cancelAll()
            }
        }
    }
}
