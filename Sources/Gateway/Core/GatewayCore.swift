import Concurrency
import Contract
package import Delivery
import Engines
import GatewayKit
package import MQTT
import Synchronization
package import Vitals
package import Web

/// The running gateway, assembled from devices, store, broker and commands. It uses no file and no plugin, so it runs
/// the same in production and in a simulation.
package final class GatewayCore: Sendable {
    /// The minimum interval between two `gateway/state` messages.
    static let stateInterval: Duration = .seconds(10)
    /// The interval between two cleanings of the store.
    static let cleanInterval: Duration = .minutes(1)
    /// The number of consecutive checks, one per `cleanInterval`, that must find the broker connected before a removed
    /// device is forgotten.
    static let checksBeforeForgetting = 2
    /// The time between the withdrawal of the announcements of a device that another store left, and the clearing of its topics.
    static let foundSettling: Duration = .seconds(3)

    /// The result of `reload`: the devices of the changed configuration, or its errors.
    package typealias Reload = @Sendable () async throws -> [DeviceSetup]

    let settings: CoreSettings
    let store: any GatewayStore
    let broker: any Broker
    let outbox: Outbox
    let retained: RetainedStates
    let commandQueue: CommandQueue
    let parser: CommandParser
    let commandLog: CommandLog
    let supervisor: DeviceSupervisor
    let status = BrokerStatus()
    let codec: ContractCodec
    let discovery: DiscoveryPublisher
    /// What the broker gives back of the gateway's own topics.
    let own: OwnTopics
    let startedAt: Timestamp
    let generator: SplitMix64
    let reload: Reload
    let stopping = Promise<Void>()
    /// Fulfilled when the initial devices are served: no reload may come earlier.
    let hasBegun = Promise<Void>()
    /// The gateway's own commands that have begun, with their keys.
    let commands = Mailbox<(GatewayCommand, key: String), Never>(capacity: CommandLog.maximumRunning)
    /// Removed devices that the store still knows, with the number of checks since that found the broker connected.
    let removedDevices = Mutex<[DeviceID: Int]>([:])
    /// Allows one replay at a time: only one may wait for room.
    let replaying = AsyncMutex()
    /// Allows one reload at a time.
    let reloading = AsyncMutex()
    /// The turns of reading a changed configuration. While it is applied, a device or a plugin that never ends is late itself.
    let reading = TurnProbe()
    /// The steps of the cleaning of the store, and of the reports of the gateway's state.
    let cleaning = StepProbe()
    let reporting = StepProbe()
    /// The state that was published last, and the parts that are late.
    let reported = Mutex<(state: GatewayState?, late: [LivenessPart])>((nil, []))
    /// The import of statistics; `nil` if there is none.
    let statistics = Mutex<StatisticsState?>(nil)
    /// Allows one change of `gateway/state` at a time.
    let stateReportMutex = AsyncMutex()
    /// Wakes the task that publishes the late parts.
    let latePartsChanged = Signal()
    /// The silence after which each device is offline, by its configuration.
    let offlineAfter = Mutex<[DeviceID: Duration]>([:])
    /// The devices of the newest configuration, in its order.
    let configured = Mutex<[DeviceInfo]>([])
    /// What has changed, for the API.
    let events: EventHub
    /// Why the last reload was refused; `nil` if it succeeded.
    let refusedReload = Mutex<String?>(nil)

    /// Assembles a gateway. `outbox` must be the one that receives the store's commits.
    package init(
        settings: CoreSettings, store: any GatewayStore, broker: any Broker, outbox: Outbox,
        discovery: DiscoverySettings, seed: UInt64, events: EventHub? = nil, reload: @escaping Reload
    ) {
        var generator = SplitMix64(seed: seed)
        self.settings = settings
        self.store = store
        self.broker = broker
        self.reload = reload
        self.startedAt = settings.clock.now
        self.outbox = outbox
        retained = RetainedStates(beside: outbox)
        codec = ContractCodec(settings: settings.delivery, discovery: discovery)
        own = OwnTopics(settings.topics)
        commandQueue = CommandQueue(topics: settings.topics)
        parser = CommandParser(
            topics: settings.topics, discoveryPrefix: discovery.prefix, calendar: settings.calendar)
        commandLog = CommandLog(
            store: store, retained: retained, settings: settings.delivery, status: status,
            generator: SplitMix64(seed: generator.next()))
        self.discovery = DiscoveryPublisher(retained: retained, settings: discovery)
        let events = events ?? EventHub(since: settings.clock.now)
        self.events = events
        let (retained, commandLog, publisher) = (retained, commandLog, self.discovery)
        let output = DeviceOutput(
            state: { device, state in
                retained.put(.device(device, state))
                events.add(device, state)
                publisher.changed(device, state)
            },
            answer: { key, answer in await commandLog.complete(key, answer) },
            ending: { device, end in settings.passing.expect(.device(device), toFulfil: end) })
        supervisor = DeviceSupervisor(
            store: store, output: output, settings: settings, generator: SplitMix64(seed: generator.next()))
        self.generator = generator
    }

    /// Serves these devices until `stop` is called or the task is cancelled.
    package func run(_ setups: [DeviceSetup]) async {
        noteSilences(of: setups)
        await forgetRemoved(keeping: setups)
        await withDiscardingTaskGroup { group in
            let loop = Promise<Void>()
            // It also opens the services of plugins, for which devices wait.
            group.addTask { await self.whileRunning(until: loop) { await self.supervisor.run() } }
            await self.whileRunning(until: stopping) { _ = await self.supervisor.apply(setups) }
            await publishInfo()
            hasBegun.fulfil(())
            await commandLog.answerForgotten()
            group.addTask { await self.whileRunning(until: loop) { await self.deliver() } }
            group.addTask { await self.whileRunning(until: loop) { await self.serveCommands() } }
            group.addTask { await self.whileRunning(until: loop) { await self.reportState() } }
            group.addTask { await self.whileRunning(until: loop) { await self.reportLate() } }
            group.addTask { await self.whileRunning(until: loop) { await self.cleanStore() } }
            group.addTask { await self.whileRunning(until: loop) { await self.emptyFound() } }
            group.addTask {
                await self.whileRunning(until: loop) {
                    await self.discovery.followHomeAssistant(clock: self.settings.clock)
                }
            }
            group.addTask {
                await self.whileRunning(until: loop) {
                    await self.discovery.run(clock: self.settings.clock) { await self.supervisor.ids }
                }
            }
            group.addTask {
                _ = try? await self.stopping.wait()
                await self.endDevices()
                await self.publishOffline()
                self.commands.finish()
                loop.fulfil(())
            }
        }
    }

    /// Notes the devices of a configuration, and their silences.
    func noteSilences(of setups: [DeviceSetup]) {
        let silences = Dictionary(setups.map { ($0.info.id, $0.policy.offlineAfter) }) { first, _ in first }
        offlineAfter.withLock { $0 = silences }
        configured.withLock { $0 = setups.map(\.info) }
    }

    /// Ends `run`: devices get their graceful disconnect, and consumers see that the gateway is offline.
    package func stop() { stopping.fulfil(()) }

    var brokerLoop: BrokerLoop {
        BrokerLoop(
            broker: broker, store: store, outbox: outbox, retained: retained, codec: codec, status: status,
            settings: settings.delivery, documents: settings.documents, own: own,
            inbox: { await self.commandQueue.add($0) },
            room: { await self.commandQueue.waitForRoom() }, connected: { self.discovery.connected() })
    }

    private func whileRunning(until end: Promise<Void>, _ body: @escaping @Sendable () async -> Void) async {
        _ = await race(against: { try await end.wait() }, body)
    }

    /// Stops every device, and waits for it for a limited time.
    private func endDevices() async {
        await settings.clock.withTimeout(Self.deviceGrace) { await self.supervisor.stop() }
    }

    /// The devices' share of the five seconds of a clean end.
    static let deviceGrace: Duration = .milliseconds(3500)

    private func publishOffline() async {
        guard status.snapshot.isConnected else { return }
        retained.putOnce(.message(codec.offline))
        // Messages in flight get a moment to arrive.
        for _ in 0..<Self.disconnectSteps where retained.hasOnce || outbox.hasInFlight {
            try? await settings.clock.sleep(for: Self.disconnectStep)
        }
    }

    /// The number and length of waits for the broker's acknowledgements in a clean end: a second in all.
    static let disconnectSteps = 50
    static let disconnectStep: Duration = .milliseconds(20)
}
