public import Vitals

/// A folder of `Plugins/`: what it adds to the gateway, and a sample of its configuration.
public protocol Plugin: Sendable {
    /// The plugin's name, the same as its folder's.
    static var name: String { get }
    /// One sentence on its purpose.
    static var summary: String { get }
    /// A commented `devices:` entry in YAML that a user can copy. With the secrets and files that it names it must pass the
    /// configuration check.
    static var sample: String { get }
    /// The drivers that it adds.
    static var drivers: [any DeviceDriver.Type] { get }
    /// The transports that it adds.
    static var transports: [any Transport.Type] { get }
    /// What its devices share, configured under `plugins:` with the plugin's name in lower case.
    static var service: (any PluginService.Type)? { get }
    /// What recognises the files of its devices.
    static var sources: (any SourceInspector.Type)? { get }
    /// The limits that its users can meet, beside the ranges of its keys.
    static var limits: [OperatorLimit] { get }
}

extension Plugin {
    /// No drivers by default.
    public static var drivers: [any DeviceDriver.Type] { [] }
    /// No transports by default.
    public static var transports: [any Transport.Type] { [] }
    /// Nothing is shared by default.
    public static var service: (any PluginService.Type)? { nil }
    /// Its devices are no files by default.
    public static var sources: (any SourceInspector.Type)? { nil }
    /// None by default.
    public static var limits: [OperatorLimit] { [] }
}

/// Speaks the protocol of one device family. A driver makes no policy: the gateway decides when to connect, how often
/// to retry, what to read and what to do after a failure.
public protocol DeviceDriver: Sendable {
    /// The value of `driver:` in the configuration, of `a-z`, `0-9` and `-`.
    static var name: String { get }
    /// The kind of link that it needs.
    static var link: LinkKind { get }
    /// How it recognises its devices among those that a scan has found.
    static var recognition: Recognition { get }
    /// Whether some of its devices send nothing before they are paired: then `vitals2mqtt add` asks a person about it.
    static var mayNeedPairing: Bool { get }
    /// Reads the device's `options:` from the configuration. It opens nothing.
    ///
    /// It reports issues to `options`; the gateway then discards the result.
    init(options: inout ConfigurationReader)
    /// The service of its plugin that this device uses; the gateway opens it before the device. `nil` if it uses none.
    var service: (any PluginService.Type)? { get }
    /// Checks what the device needs beside its link and its service, such as its files, for `vitals2mqtt doctor`: it changes nothing.
    /// The gateway may be running beside it. By default there is nothing to check.
    /// - Parameter from: where a first synchronisation begins; `nil` if it reads everything.
    func examine(from: Timestamp?, context: SessionContext) async -> [Finding]
    /// Speaks with the device over `link` until `body` returns or the link fails, then releases the device.
    ///
    /// A session is open only within `body`. Meanwhile the driver answers every request of the device, and runs its own
    /// children as structured tasks.
    /// - Throws: what `body` throws, or a `DeviceError` if the session could not be opened or broke; the link's `LinkError` with
    ///   `ended` if the device has sent all that it had to send.
    func withSession(
        over link: Link, context: SessionContext, _ body: @Sendable (any DeviceSession) async throws -> Void
    ) async throws
}

extension DeviceDriver {
    /// It recognises none by default.
    public static var recognition: Recognition { Recognition() }
    /// Nothing.
    public func examine(from: Timestamp?, context: SessionContext) async -> [Finding] { [] }
    /// Its devices need no pairing by default.
    public static var mayNeedPairing: Bool { false }
    /// None by default.
    public var service: (any PluginService.Type)? { nil }
}

/// A transport whose devices post to the gateway's own listener, which is open as long as there is one of them.
package protocol PostTransport: Transport {}

/// Opens links to devices: TCP, a serial line, a child process, Bluetooth.
public protocol Transport: Sendable {
    /// The value of `transport: {type: …}` in the configuration, of `a-z`, `0-9` and `-`.
    static var name: String { get }
    /// The kind of link that it opens.
    static var link: LinkKind { get }
    /// The kinds of links that it can open, `link` among them. Which one it opens depends on what is at the other end.
    static var links: Set<LinkKind> { get }
    /// The file descriptors that a link needs at most, with those that opening it needs. The gateway opens no more links
    /// than the process's limit allows.
    static var descriptors: Int { get }
    /// The values of its key `pairing` that `vitals2mqtt add` offers, which are those that need no other key: the default first. None if
    /// it has no such key.
    static var pairings: [String] { get }
    /// Returns when each thread and each event loop that carries all links of the transport has taken a turn.
    ///
    /// The gateway asks every two seconds while a device has a link, or tries to open one. If there is no answer for 15 seconds,
    /// `gateway/state` names the transport in `late`, and a service manager hears no sign of life: no other device of the
    /// transport could be served, either. The wait must end when its task is cancelled. By default it returns at once, which is enough
    /// for a transport that has only tasks.
    static func answer() async
    /// Reads the other keys of `transport:` from the configuration. It opens nothing.
    ///
    /// It reports issues to `options`; the gateway then discards the result.
    init(options: inout ConfigurationReader)
    /// The service of its plugin that this device uses; the gateway opens it before the device. `nil` if it uses none.
    var service: (any PluginService.Type)? { get }
    /// The topics of the gateway's broker whose messages are documents of this device; other devices have others.
    var topics: [String] { get }
    /// The address that only this device has among those of the transport, in one notation; `nil` if others may have the same.
    var address: String? { get }
    /// Whether this device is paired with a passkey that a person reads from it: the transport may ask at `LinkContext.passkeys`.
    var asksForPasskey: Bool { get }
    /// Opens a link, which stays open until `body` returns or throws.
    /// - Throws: what `body` throws, or a `LinkError` if the link could not be opened.
    func withLink(context: LinkContext, _ body: @Sendable (Link) async throws -> Void) async throws
}

extension Transport {
    /// Four by default: a connection, and what finding and opening it needs.
    public static var descriptors: Int { 4 }
    /// Only `link` by default.
    public static var links: Set<LinkKind> { [link] }
    /// Returns at once.
    public static func answer() async {}
    /// It pairs no device by default.
    public static var pairings: [String] { [] }
    /// None by default.
    public var service: (any PluginService.Type)? { nil }
    /// None by default.
    public var topics: [String] { [] }
    /// None by default.
    public var address: String? { nil }
    /// No passkey by default.
    public var asksForPasskey: Bool { false }
}
