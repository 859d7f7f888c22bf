import Concurrency
import Contract
import Delivery
import Engines
import GatewayKit
import HomeAssistantStatistics
import JSON
import Listening
import MQTT
import Recordings
import Store
import Vitals
import Web

/// The gateway's own limits that a user or an operator can meet. `Tests/ArchitectureTests/limits.tsv` names the tests of each.
enum GatewayLimits {
    /// All of them, by title.
    static let all = [
        ("Commands", commands), ("Values", values), ("Devices", devices), ("Store and broker", delivery),
        ("Home Assistant", homeAssistant), ("Configuration", configuration), ("The process", process),
        ("The listener (web)", WebConfiguration.limits),
    ]

    private static let commands: [OperatorLimit] = [
        OperatorLimit(
            "payload of a command", bytes: CommandLimits.payload, "`too_large`", "a whole configuration is 2 KiB"),
        OperatorLimit(
            "nesting of a command's JSON", count: JSONReader.maximumDepth, "`bad_json`",
            "the parser must not exhaust the stack"),
        OperatorLimit("`id`", bytes: CommandLimits.idLength, "`invalid`", "it is stored with the answer"),
        OperatorLimit(
            "characters of `by` of `acknowledge`", count: Acknowledgement.nameLength, "`invalid`",
            "it is stored, and shown as a name of the configuration"),
        OperatorLimit(
            "name of a page", bytes: CommandLimits.pageLength, "`invalid`", "the gateway's own have 40 bytes"),
        OperatorLimit(
            "correlation data", bytes: CommandLimits.correlation, "`invalid`, answered without it",
            "it is held while the command runs, and stored with the answer"),
        OperatorLimit(
            "response topic", bytes: ContractTopics.maximumResponseTopicLength, "`invalid`",
            "it is stored with the answer"),
        OperatorLimit(
            "errors in an answer", count: CommandLimits.violations, "the others are counted",
            "a payload could have tens of thousands"),
        OperatorLimit(
            "data of an answer", bytes: ContractEncoder.maximumAnswerData, "the rest is on the next page",
            "small brokers and clients accept it"),
        OperatorLimit(
            "seconds of a measurement", counts: CommandLimits.measurementSeconds, "`invalid`",
            "a longer one drains the battery"),
        OperatorLimit(
            "seconds of a scan", counts: CommandLimits.scanSeconds, "`invalid`",
            "devices advertise at least every 10.24 s"),
        OperatorLimit("scans at a time", count: Scanners.atOnce, "`busy`", "each keeps what it hears"),
        OperatorLimit(
            "devices that a scan lists", count: Scanners.devices, "`skipped` counts the others",
            "in a block of flats; those with a driver and the nearest come first"),
        OperatorLimit(
            "samples of a page of `history`", counts: CommandLimits.historyPage, "`invalid`",
            "500 plain samples are 150 KiB"),
        OperatorLimit("days of `daily`", count: CommandLimits.days, "`invalid`", "a year in one answer"),
        OperatorLimit(
            "messages of `replay`", count: Int(CommandLimits.replay), "`invalid`", "a minute of a broker's time"),
        OperatorLimit(
            "lead of `issued_at`", time: CommandLimits.clockTolerance, "`invalid`", "a sender's clock may be ahead"),
        OperatorLimit(
            "commands of a device at a time", count: DeviceAgent.maximumCommands, "`busy`",
            "each holds memory and a task"),
        OperatorLimit(
            "running commands in all", count: CommandLog.maximumRunning, "`busy`; one device gets at most half",
            "64 devices with the most of each"),
        OperatorLimit(
            "waiting synchronisations of a device", count: SyncPolicy.maximumJobs, "`busy`",
            "each reads the device's history"),
        OperatorLimit(
            "stored answers", count: StoreOptions().maximumAnswers,
            "the oldest that the broker has is forgotten; while it has none, commands are `busy`",
            "sixteen a second for ten minutes"),
        OperatorLimit(
            "stored answers of the API", count: StoreOptions().maximumUnsentAnswers, "the oldest is forgotten",
            "their callers have them"),
        OperatorLimit(
            "memory of an `id`", time: StoreOptions().answerAge, "the same `id` runs again",
            "a sender asks again sooner"),
    ]

    private static let values: [OperatorLimit] = [
        OperatorLimit("duration of a sample", time: SampleLimits.duration, "refused", "the longest races take days"),
        OperatorLimit(
            "steps of a sample", counts: SampleLimits.steps, "refused", "twice what the fastest make in a day"),
        OperatorLimit(
            "steps of a minute", count: Int(SampleLimits.stepRate * 60), "refused", "the fastest sprinters make 300"),
        OperatorLimit(
            "metres of a minute on foot", count: Int(SampleLimits.footSpeed * 60), "refused",
            "no person has ever run as fast"),
        OperatorLimit(
            "metres of a minute by any means", count: Int(SampleLimits.speed * 60), "refused",
            "no bicycle was ever as fast"),
        OperatorLimit(
            "kilocalories of a minute", count: Int(SampleLimits.energyRate * 60), "refused",
            "what the best sprinters do for seconds"),
        OperatorLimit(
            "floors of a minute", count: Int(SampleLimits.floorRate * 60), "refused",
            "three times the fastest up a tower"),
        OperatorLimit(
            "kilocalories of a minute at rest", count: Int(SampleLimits.basalRate * 60), "refused",
            "more than the heaviest need"),
        OperatorLimit(
            "millilitres drunk at once", count: Int(SampleLimits.drink), "refused", "beside 1,000 an hour"),
        OperatorLimit(
            "kilocalories eaten at once", count: Int(SampleLimits.meal), "refused", "beside 25,000 a day"),
        OperatorLimit(
            "`sources` of a device", count: SourceOrder.maximumNames, "refused", "a person wears a few devices"),
        OperatorLimit(
            "characters of a source's name", count: SampleOrigin.maximumName, "cut", "it is stored with its samples"),
        OperatorLimit("time asleep of a sleep", time: SampleLimits.sleep, "refused", "a wearable in a drawer"),
        OperatorLimit("stages of a sleep", count: SampleLimits.stages, "refused", "one every 30 s of a day"),
        OperatorLimit(
            "samples of a message", count: Fact.Measurement.maximumSamples, "several messages", "60 KiB of JSON"),
        OperatorLimit(
            "stages of a message", count: Fact.Measurement.maximumStages,
            "several messages; a longer sleep has its own", "90 KiB of JSON"),
        OperatorLimit(
            "workouts that a day lists", count: DailyAccumulator.workoutLimit, "the others are counted",
            "one every half an hour"),
        OperatorLimit(
            "resting values of a day", count: DailyAccumulator.restingLimit, "the newest are kept",
            "one every five minutes"),
        OperatorLimit(
            "age of a live sample", time: SampleProjection.presence, "`historical`", "later ones are not current"),
    ]

    private static let devices: [OperatorLimit] = [
        OperatorLimit(
            "an operation of a device", time: DeviceTimeouts.call, "the session ends", "any operation takes less"),
        OperatorLimit(
            "silence of a device", time: DeviceTimeouts.idle, "it gets a `ping`; then the session ends",
            "a link may break without notice"),
        OperatorLimit(
            "wait between attempts to connect", time: ConnectionMachine.longestWait, "waits double up to it",
            "a returning wearable is found soon"),
        OperatorLimit(
            "wait between attempts to open a service", time: ServiceRunner.longestWait, "waits double up to it",
            "a service is local, so a try costs little"),
        OperatorLimit(
            "wait after a wrong secret", time: LoginRateLimiter.longestWait, "waits double up to it",
            "guesses must not be free"),
        OperatorLimit(
            "wrong secrets of a network", count: LoginRateLimiter.errorsPerNetwork,
            "it waits, but for devices that had the right secret there", "names cost nothing"),
        OperatorLimit(
            "lead of a record", time: SyncPolicy.futureTolerance, "it stays on the device", "clocks differ"),
        OperatorLimit(
            "look back for sleep, sport and steps", time: SyncPolicy.intervalOverlap,
            "older ones that appear late are not read", "they appear late"),
        OperatorLimit(
            "summaries of past days", count: SyncPolicy.maximumSummaryDays, "older ones only on command",
            "the most days of one request"),
        OperatorLimit(
            "devices of an entry with `each_device`", count: CapturedDevices.maximum,
            "as many further parts are named in the log, not made", "as many as a house has"),
        OperatorLimit(
            "messages that wait until their devices are made", bytes: DocumentTopics.maximumHeld, "not kept",
            "thousands of usual ones"),
        OperatorLimit(
            "of them from one topic", count: DocumentTopics.maximumHeldOfTopic, "the oldest is dropped",
            "what a scale sends of a weighing"),
        OperatorLimit(
            "wait after a device could not be made", time: DeviceMaker.retryDelay, "it is tried again",
            "a person is needed, or another program writes"),
        OperatorLimit(
            "a measurement beyond its time", time: MeasurementMachine.grace, "it has failed",
            "a sensor needs some seconds to end"),
    ]

    private static let delivery: [OperatorLimit] = [
        OperatorLimit(
            "trial of the clock", time: SteadyDate.trial, "until then nothing is dropped for its age",
            "a clock without a battery is set within minutes"),
        OperatorLimit(
            "messages that the broker does not take", count: StoreOptions().maximumQuarantined,
            "the oldest is dropped and counted", "a month of a metric"),
        OperatorLimit(
            "answer of the broker", time: PoisonMessageSplitter.answerLimit, "the gateway connects again",
            "a busy broker answers within seconds"),
        OperatorLimit(
            "echo of `gateway/info` (MQTT 3.1.1)", time: OwnTopics.echoLimit, "`broker.access` is not ready",
            "as long as the answer to a subscription"),
        OperatorLimit(
            "devices of another store at a time", count: OwnTopics.maximumFound,
            "the next connection empties the topics of the others", "each has some fifty topics"),
        OperatorLimit(
            "pause of a refused topic", time: RefusedTopics.maximumWait, "it is tried again; pauses double up to it",
            "each attempt costs a few connections"),
        OperatorLimit(
            "messages without an acknowledgement", count: BrokerOptions.defaultWindow, "further ones wait",
            "more bring no speed"),
        OperatorLimit(
            "packet to the gateway (MQTT 5)", bytes: BrokerOptions.maximumInboundPacket, "the broker does not send it",
            "the library holds a whole packet in memory"),
        OperatorLimit(
            "age of an alert", time: ContractCodec.alertExpiry, "it goes to `event/history`",
            "an older one is not current"),
        OperatorLimit(
            "between two publications of `gateway/state`", time: GatewayCore.stateInterval, "published later",
            "states must not flood the broker"),
        OperatorLimit(
            "messages of a phone that wait", count: DocumentMessages.maximumWaiting, "dropped and logged",
            "each has up to 1 MiB"),
    ]

    private static let homeAssistant: [OperatorLimit] = [
        OperatorLimit(
            "age of an imported hour", time: StatisticsSettings.settling, "younger ones wait",
            "Home Assistant compiles an hour some minutes after its end"),
        OperatorLimit(
            "wait for a quiet series", time: StatisticsSettings.timeout, "its hours are imported all the same",
            "a synchronisation is computed once"),
        OperatorLimit(
            "pause after a refusal", time: StatisticsSettings.refusalWait, "another attempt", "only a person can help"),
        OperatorLimit(
            "retention for an import", time: StatisticsSettings.shortestRetention, "a shorter one is refused",
            "the last days of retention are not whole"),
    ]

    private static let configuration: [OperatorLimit] = [
        OperatorLimit(
            "the file", bytes: ConfigurationLimits.fileSize, "refused", "a wrong path must not exhaust the memory"),
        OperatorLimit(
            "files of `devices_from`", count: ConfigurationLimits.deviceFiles,
            "refused, as are more bytes or values together than a file may have", "each is opened for every reload"),
        OperatorLimit(
            "values with aliases", count: ConfigurationLimits.values, "refused", "aliases of aliases can be billions"),
        OperatorLimit("nesting", count: ConfigurationLimits.depth, "refused", "no setting goes beyond 6"),
        OperatorLimit(
            "listed errors", count: ConfigurationLimits.issues, "the others are counted", "it is another kind of file"),
        OperatorLimit(
            "a secret's file", bytes: ConfigurationReader.secretSize, "refused", "the longest password of MQTT"),
        OperatorLimit(
            "characters of a device's token", count: ConfigurationReader.shortestToken, "fewer are a warning",
            "64 bits, which nobody guesses"),
        OperatorLimit(
            "a PEM file", bytes: ConfigurationReader.pemSize, "refused",
            "four times the authorities of an operating system"),
        OperatorLimit(
            "`mqtt.base_topic`", bytes: ContractTopics.maximumBaseLength, "refused", "every message contains it"),
        OperatorLimit(
            "characters of `mqtt.client_id`", count: MQTTConfiguration.maximumClientIDLength, "refused",
            "brokers log it everywhere"),
    ]

    private static let process: [OperatorLimit] = [
        OperatorLimit(
            "free disk space", bytes: DiskSpace.least, "below it `doctor` says a problem",
            "SQLite's log and a copy of the store need room"),
        OperatorLimit(
            "comfortable disk space", bytes: DiskSpace.comfortable, "below it `doctor` warns",
            "other programs write, too"),
        OperatorLimit(
            "a recording", bytes: LinkRecorder.maximumBytes, "it ends with a line that says so; the links go on",
            "a day of ten straps"),
        OperatorLimit(
            "a graceful stop", time: GatewayProcess.gracePeriod, "cancelled, and a second later ended with status 75",
            "a service manager waits at least five seconds"),
        OperatorLimit(
            "between two lines of the log about one fault", time: RepeatedNotice.longestDistance,
            "the distance doubles up to it, from a minute on",
            "a fault of weeks must not fill the log"),
        OperatorLimit(
            "sign of life of a part", time: LivenessPart.answerLimit, "it is late: see `gateway/state`",
            "far longer than a healthy part takes on a slow board"),
        OperatorLimit(
            "opening of the store", time: StartNotice.longest, "the service manager ends the start",
            "a large store of an earlier version is copied and checked first"),
    ]
}
