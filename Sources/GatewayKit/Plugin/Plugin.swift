/// A folder of `Plugins/`: what it contributes to the gateway, and how its configuration looks.
public protocol Plugin: Sendable {
    /// The plugin's name, as its folder is called.
    static var name: String { get }
    /// One sentence on what it is for.
    static var summary: String { get }
    /// A commented `devices:` entry in YAML that a user can copy. It must pass the configuration check.
    static var sample: String { get }
    /// The drivers that it brings.
    static var drivers: [any DeviceDriver.Type] { get }
    /// The transports that it brings.
    static var transports: [any Transport.Type] { get }
}

extension Plugin {
    /// None, unless the plugin says otherwise.
    public static var drivers: [any DeviceDriver.Type] { [] }
    /// None, unless the plugin says otherwise.
    public static var transports: [any Transport.Type] { [] }
}

/// Speaks one device family's protocol. It owns the protocol and no policy: when to connect, how often to retry, what to
/// read and what to do after a failure is the gateway's business.
public protocol DeviceDriver: Sendable {
    /// The value of `driver:` in the configuration, of `a-z`, `0-9` and `-`.
    static var name: String { get }
    /// The kind of link that it needs.
    static var link: LinkKind { get }
    /// Takes the device's `options:` from the configuration. It opens nothing.
    ///
    /// Mistakes are reported to `options`; what is returned then is not used.
    init(options: inout ConfigurationReader)
    /// Speaks with the device over `link` until `body` returns or the link fails, then lets go of it.
    ///
    /// A session is open only within `body`. The driver answers everything that the device asks meanwhile, and runs its
    /// own children as structured tasks.
    /// - Throws: what `body` throws, or a `DeviceError` where the session could not be opened or broke.
    func withSession(
        over link: Link, context: SessionContext, _ body: @Sendable (any DeviceSession) async throws -> Void
    ) async throws
}

/// Opens links to devices: TCP, a serial line, a child process, Bluetooth.
public protocol Transport: Sendable {
    /// The value of `transport: {type: …}` in the configuration, of `a-z`, `0-9` and `-`.
    static var name: String { get }
    /// The kind of link that it opens.
    static var link: LinkKind { get }
    /// Takes the other keys of `transport:` from the configuration. It opens nothing.
    ///
    /// Mistakes are reported to `options`; what is returned then is not used.
    init(options: inout ConfigurationReader)
    /// Opens a link, which stays open until `body` returns or throws.
    /// - Throws: what `body` throws, or a `LinkError` where the link could not be opened.
    func withLink(context: LinkContext, _ body: @Sendable (Link) async throws -> Void) async throws
}
