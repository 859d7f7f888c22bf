import Foundation
import GatewayKit
import GatewayTesting
import UnixSignals

/// A simulated wearable that speaks Vitals Link on standard input and output.
///
///     link-wearable band
///
/// A test has two ways past the link: signals say what the wearable shall do by itself, and standard error says which process
/// it is and what it was told.
@main enum LinkWearable {
    static func main() async throws {
        // Nobody reads any more: that is an error of the write.
        signal(SIGPIPE, SIG_IGN)
        let wearable = try Wearable(model: CommandLine.arguments.dropFirst().first ?? "band")
        let signals = await UnixSignalsSequence(trapping: .sigusr1, .sigusr2)
        try await wearable.withStage(clock: FastClock().gatewayClock) { stage in
            await withThrowingTaskGroup { group in
                group.addTask {
                    for await signal in signals {
                        await stage.send(signal == .sigusr1 ? Wearable.events : [Wearable.safeEvent])
                    }
                }
                group.addTask {
                    for count in 0... {
                        let told = try await stage.told.wait { $0.count > count }
                        StandardStreams.say("told \(told[count].text)")
                    }
                }
                StandardStreams.say("process \(ProcessInfo.processInfo.processIdentifier)")
                await LinkServer(stage, over: StandardStreams()).run()
                group.cancelAll()
            }
        }
    }
}
