package import GatewayKit
import Synchronization

extension BlueZService {
    /// Whether D-Bus can be reached, BlueZ runs and may be used, and there is an adapter that is on. It changes nothing.
    package func examine(context: ServiceContext) async -> [Finding] {
        await Radio(options, loop: Self.loop, clock: context.clock, logger: context.logger).examination()
    }
}

extension Radio {
    /// Connects to the bus for a check.
    nonisolated func examination() async -> [Finding] {
        let found = Mutex<[Finding]>([])
        do {
            try await run {
                let findings = await self.findings()
                found.withLock { $0 = findings }
            }
        } catch {
            return [Finding(.problem, "bluetooth", "\(error)")]
        }
        return found.withLock { $0 }
    }

    /// What BlueZ says, and what to do.
    func findings() async -> [Finding] {
        guard owner != nil else {
            return [Finding(.problem, "bluetooth", "BlueZ does not run. Start it: systemctl start bluetooth.")]
        }
        let tree: ObjectTree
        do throws(BusError) {
            // Asked again, since only the answer distinguishes a user without rights from a machine without adapters.
            tree = ObjectTree(try await call("/", DBus.objectManager, "GetManagedObjects"))
        } catch {
            let remedy =
                if case .reply("org.freedesktop.DBus.Error.AccessDenied", _) = error {
                    "Let the gateway's user use BlueZ: usermod -aG bluetooth USER, and start the gateway again."
                } else {
                    "Start BlueZ again: systemctl restart bluetooth."
                }
            return [Finding(.problem, "bluetooth", "BlueZ does not answer: \(error). \(remedy)")]
        }
        let paths = tree.paths(with: BlueZ.adapter)
        guard tree.adapter(options.adapter) != nil else {
            let name = options.adapter.map { " \($0)" } ?? ""
            let others = paths.isEmpty ? "" : " There is \(paths.map(Self.name).joined(separator: ", "))."
            return [Finding(.problem, "bluetooth", "There is no Bluetooth adapter\(name). Plug it in.\(others)")]
        }
        let access = Finding(.fine, "bluetooth", "BlueZ serves this user over D-Bus.")
        let adapters = paths.map { path in
            let isOn = tree[path, BlueZ.adapter]?["Powered"]?.flag ?? false
            return isOn
                ? Finding(.fine, "bluetooth", "The adapter \(Self.name(path)) is on.")
                : Finding(
                    .warning, "bluetooth",
                    "The adapter \(Self.name(path)) is off. The gateway switches it on if it is not blocked: rfkill unblock bluetooth."
                )
        }
        return [access] + adapters
    }

    /// The name of an adapter, such as `hci0`.
    private static func name(_ path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }
}
