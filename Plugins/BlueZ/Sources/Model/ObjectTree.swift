/// The objects of BlueZ with their properties, kept up to date by its signals.
struct ObjectTree: Sendable {
    /// The properties of an interface.
    typealias Properties = [String: BusValue]

    /// The most objects. BlueZ forgets a device that it has not heard for half a minute, so there are as many devices as advertise
    /// nearby, and the services of those that are connected.
    static let capacity = 8_192

    private var objects: [String: [String: Properties]] = [:]

    /// An empty tree.
    init() {}

    /// The objects that `GetManagedObjects` has answered with.
    init(_ answer: [BusValue]) {
        for (path, interfaces) in answer.first?.members ?? [:] { add(path, interfaces) }
    }

    /// The properties of an interface of an object; `nil` if it has none.
    subscript(path: String, interface: String) -> Properties? { objects[path]?[interface] }

    /// The objects with an interface, in the order of their paths.
    func paths(with interface: String) -> [String] {
        objects.filter { $0.value[interface] != nil }.map(\.key).sorted()
    }

    /// The objects below a path with an interface, in the order of their paths.
    func paths(with interface: String, below path: String) -> [String] {
        paths(with: interface).filter { $0.hasPrefix(path + "/") }
    }

    /// Adds what `InterfacesAdded` names. An object beyond the capacity is skipped.
    mutating func add(_ path: String, _ interfaces: BusValue) {
        guard objects[path] != nil || objects.count < Self.capacity else { return }
        for (interface, properties) in interfaces.members {
            objects[path, default: [:]][interface] = properties.members
        }
    }

    /// Removes what `InterfacesRemoved` names.
    mutating func remove(_ path: String, _ interfaces: [String]) {
        for interface in interfaces { objects[path]?[interface] = nil }
        if objects[path]?.isEmpty ?? false { objects[path] = nil }
    }

    /// Changes what `PropertiesChanged` names, unless the object is unknown.
    mutating func change(_ path: String, _ interface: String, _ changed: Properties, without invalidated: [String]) {
        guard objects[path]?[interface] != nil else { return }
        objects[path]?[interface]?.merge(changed) { $1 }
        for name in invalidated { objects[path]?[interface]?[name] = nil }
    }
}
