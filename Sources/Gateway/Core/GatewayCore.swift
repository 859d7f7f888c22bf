import Contract
package import Engines
import GatewayKit
package import MQTT
import Synchronization
import Vitals

/// The running gateway: devices, store, broker and commands, put together. It knows no file and no plugin, so that it runs
/// the same in production and in a simulation.
package final class GatewayCore: Sendable {
    /// How often `gateway/state` is published at most.
    static let stateInterval: Duration = .seconds(10)
    /// How often the store is looked over for what is too old or too much.
    static let cleanInterval: Duration = .minutes(1)
    /// How often in a row the broker has to be connected, a look a `cleanInterval`, until a removed device is forgotten.
    static let looksBeforeForgetting = 2

    /// What `reload` brings: the devices of the changed configuration, or what is wrong with it.
    package typealias Reload = @Sendable () async throws -> [DeviceSetup]

    let settings: CoreSettings
    let store: any GatewayStore
    let broker: any Broker
    let outbox: Outbox
    let board: StateBoard
    let wakeup: Wakeup
    let desk: CommandDesk
    let fleet: DeviceFleet
    let status = BrokerStatus()
    let wire: WireEncoder
    let startedAt: Timestamp
    let generator: SplitMix64
    let reload: Reload
    let stopping = Latch<Void>()
    /// Opened when the devices with which the gateway starts are served: no reload may come before them.
    let hasBegun = Latch<Void>()
    let births = Wakeup()
    /// The gateway's own commands that were begun, with their keys.
    let commands: AsyncStream<(GatewayCommand, key: String)>
    let commandSource: AsyncStream<(GatewayCommand, key: String)>.Continuation
    /// Devices that were removed and are still known to the store, with how often the broker was seen connected since.
    let departing = Mutex<[DeviceID: Int]>([:])
    /// Lets one replay through at a time: only one may wait for room.
    let replaying = SerialGate()
    /// Lets one reload through at a time.
    let reloading = SerialGate()
    /// Why the last reload was refused; `nil` after one that succeeded.
    let refusedReload = Mutex<String?>(nil)

    /// Puts a gateway together. `delivery` must be what the store hands its commits to.
    package init(
        settings: CoreSettings, store: any GatewayStore, broker: any Broker, delivery: Delivery,
        discovery: DiscoverySettings, seed: UInt64, reload: @escaping Reload
    ) {
        var generator = SplitMix64(seed: seed)
        self.settings = settings
        self.store = store
        self.broker = broker
        self.reload = reload
        self.startedAt = settings.clock.now
        (commands, commandSource) = AsyncStream.makeStream()
        wakeup = delivery.wakeup
        outbox = delivery.outbox
        board = StateBoard(wakeup: delivery.wakeup)
        wire = WireEncoder(settings: settings, discovery: discovery)
        desk = CommandDesk(
            store: store, outbox: outbox, board: board, wire: wire, settings: settings,
            generator: SplitMix64(seed: generator.next()))
        let (board, desk, discoveryBoard) = (board, desk, DiscoveryBoard(board: board, settings: discovery))
        let output = DeviceOutput(
            state: { device, state in
                board.put(.device(device, state))
                if case .info(let info) = state { discoveryBoard.changed(info) }
            },
            answer: { key, answer in await desk.finish(key, answer) })
        fleet = DeviceFleet(
            store: store, output: output, settings: settings, generator: SplitMix64(seed: generator.next()))
        self.discovery = discoveryBoard
        self.generator = generator
    }

    let discovery: DiscoveryBoard

    /// Serves these devices until `stop` was called or the task is cancelled.
    package func run(_ setups: [DeviceSetup]) async {
        await forgetRemoved(keeping: setups)
        _ = await fleet.apply(setups)
        await publishInfo()
        hasBegun.open(())
        await desk.answerForgotten()
        await withDiscardingTaskGroup { group in
            let loop = Latch<Void>()
            group.addTask { await self.whileRunning(until: loop) { await self.fleet.run() } }
            group.addTask {
                await self.whileRunning(until: loop) { await self.brokerLoop.run(generator: self.generator) }
            }
            group.addTask { await self.whileRunning(until: loop) { await self.serveCommands() } }
            group.addTask { await self.whileRunning(until: loop) { await self.reportState() } }
            group.addTask { await self.whileRunning(until: loop) { await self.cleanStore() } }
            group.addTask { await self.whileRunning(until: loop) { await self.welcomeHomeAssistant() } }
            group.addTask { await self.whileRunning(until: loop) { await self.sweepDiscovery() } }
            group.addTask {
                _ = try? await self.stopping.wait()
                await self.endDevices()
                await self.sayGoodbye()
                self.commandSource.finish()
                loop.open(())
            }
        }
    }

    /// Ends `run`: devices get their goodbye, consumers hear that the gateway is offline.
    package func stop() { stopping.open(()) }

    private var brokerLoop: BrokerLoop {
        let publisher = Publisher(
            outbox: outbox, board: board, status: status, store: store, wire: wire, wakeup: wakeup, settings: settings)
        return BrokerLoop(
            broker: broker, publisher: publisher, inbox: { await self.receive($0) },
            connected: { self.discovery.connected() }, status: status)
    }

    private func whileRunning(until end: Latch<Void>, _ body: @escaping @Sendable () async -> Void) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await body() }
            group.addTask { _ = try? await end.wait() }
            await group.next()
            group.cancelAll()
        }
    }

    /// Lets every device go, and waits for it, but not for ever.
    private func endDevices() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.fleet.stop() }
            group.addTask { [clock = settings.clock] in try? await clock.sleep(for: Self.deviceGrace) }
            await group.next()
            group.cancelAll()
        }
    }

    /// Of the five seconds of a clean end, what the devices get.
    static let deviceGrace: Duration = .milliseconds(3500)

    private func sayGoodbye() async {
        guard status.snapshot.isConnected else { return }
        board.putOnce(.message(wire.offline))
        // What is in the window gets a moment to arrive.
        for _ in 0..<Self.goodbyeSteps where board.hasOnce || outbox.hasInFlight {
            try? await settings.clock.sleep(for: Self.goodbyeStep)
        }
    }

    /// A clean end waits so often, and each time so long, for the broker's acknowledgements: a second in all.
    static let goodbyeSteps = 50
    static let goodbyeStep: Duration = .milliseconds(20)
}

/// What a store hands its commits to, made before the store and the core.
package struct Delivery: Sendable {
    let wakeup: Wakeup
    package let outbox: Outbox

    package init() {
        wakeup = Wakeup()
        outbox = Outbox(wakeup: wakeup)
    }
}
