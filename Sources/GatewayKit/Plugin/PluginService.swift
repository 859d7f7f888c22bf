public import Logging
public import Vitals

/// A service that the devices of a plugin share: a listener that they call, a folder that is watched, a radio.
///
/// The gateway makes one from `plugins: {<name>: {…}}`, and keeps it open as long as a device uses it. It opens the service before
/// these devices and closes it after them. If it cannot be opened or breaks, these devices are disconnected and their link says why;
/// the gateway tries again after `firstWait`, and then after waits that double up to `longestWait`.
///
/// A driver or a transport names the service that it uses in `service`, and gets the open one from its context:
/// `context.services.with(TCPListener.self) { listener in … }`.
public protocol PluginService: Sendable {
    /// An entry of `plugins:` in YAML that a user can copy. It must pass the configuration check.
    static var sample: String { get }
    /// What its devices share, for messages that say that it is not open: a noun with its article, such as `the Bluetooth adapter`.
    static var shared: String { get }
    /// The file descriptors that it needs at most by itself, without the links of its devices.
    static var descriptors: Int { get }
    /// Reads the section `plugins: {<name>: …}` of the configuration; a missing section has no keys. It opens nothing.
    ///
    /// It reports issues to `options`; the gateway then discards the result.
    init(options: inout ConfigurationReader)
    /// Where it listens, as its key `listen` has it: an IP address and a TCP port, such as `127.0.0.1:8480`, which no other service
    /// may have. `nil` if it listens nowhere.
    var listens: String? { get }
    /// Opens what is shared, and keeps it open until `body` returns or the service breaks.
    ///
    /// Drivers and transports use it only within `body`. Its own work is done by structured tasks. It is called again after
    /// a failure.
    /// - Throws: what `body` throws, or why the service could not be opened or broke: an error whose description is a sentence
    ///   for a person.
    func withService(context: ServiceContext, _ body: @escaping @Sendable () async throws -> Void) async throws
    /// Checks what the service needs, such as a bus or a radio, for `vitals2mqtt doctor`: it changes nothing, and takes ten seconds at
    /// most. The gateway may be running beside it. By default there is nothing to check.
    func examine(context: ServiceContext) async -> [Finding]
    /// Returns when each thread and each event loop of the service has taken a turn.
    ///
    /// The gateway asks every two seconds while the service is open. If there is no answer for 15 seconds, `gateway/state` names the
    /// plugin in `late` until there is one. The wait must end when its task is cancelled. By default it returns at once, which is
    /// enough for a service that has only tasks: the gateway asks their threads itself.
    func answer() async
}

extension PluginService {
    /// Four by default: a listener or a watch, and what opening it needs.
    public static var descriptors: Int { 4 }
    /// Says no more than the plugin's name.
    public static var shared: String { "what its devices share" }
    /// Nowhere.
    public var listens: String? { nil }
    /// Nothing.
    public func examine(context: ServiceContext) async -> [Finding] { [] }
    /// Returns at once.
    public func answer() async {}
}

/// The surroundings that a service gets when the gateway opens it.
public struct ServiceContext: Sendable {
    /// The gateway's clocks; a service uses no others.
    public var clock: GatewayClock
    /// A logger that names the plugin.
    public var logger: Logger

    /// A context of a service.
    public init(clock: GatewayClock, logger: Logger) {
        self.clock = clock
        self.logger = logger
    }
}

/// A finding of `vitals2mqtt doctor` about one thing that the gateway needs.
public struct Finding: Sendable, Hashable {
    /// What it means for the gateway.
    public enum Severity: String, Sendable, Hashable {
        /// Nothing has to be done.
        case fine = "ok"
        /// The gateway runs, and something should be done.
        case warning = "warn"
        /// Something does not work.
        case problem = "FAIL"
    }
    /// What it means.
    public var severity: Severity
    /// What was checked: a word or two, such as `broker`.
    public var subject: String
    /// What was found and, unless it is fine, what to do: sentences for a person, without secrets.
    public var text: String

    /// A finding.
    public init(_ severity: Severity, _ subject: String, _ text: String) {
        self.severity = severity
        self.subject = subject
        self.text = text
    }
}
