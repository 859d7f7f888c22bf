import GatewayKit
import Listening

/// Checks where services listen: no two may listen at the same address.
struct TakenListens {
    private var services: [(name: String, address: ListenAddress)] = []

    /// Takes the address of a service. Returns what is wrong with it, with the remedy.
    mutating func add(_ service: any PluginService, named name: String) -> String? {
        guard let address = service.listens.flatMap({ ListenAddress($0) }) else { return nil }
        if let other = services.first(where: { $0.address.collides(with: address) }) {
            return "The address \(address) is that of \(other.name) already. Choose another port."
        }
        services.append((name, address))
        return nil
    }
}
