package import Vitals

/// Finds new devices, checks their entries and writes them, as the commands `scan`, `sources` and `add` do.
package protocol DeviceAdder: Sendable {
    /// The apps of phones that push, each with the driver that takes what it sends.
    var phoneApps: [AddChoice] { get }
    /// The models that a simulated device can be.
    var models: [AddChoice] { get }
    /// What keeps phones from reaching the gateway, with what to do; `nil` if nothing does.
    var phoneObstacle: String? { get }
    /// Listens for devices for some seconds.
    func scan() async throws(AddRefusal) -> ScanReport
    /// What is in the folder for exports of phones; `nil` if the configuration has none.
    func exports() async -> FoundExports?
    /// The entry of a device, with what is wrong with it. Nothing is written.
    func check(_ wishes: DeviceWishes) async -> CheckedDevice
    /// Writes the entry of a device, and the token of a phone beside the configuration.
    func write(_ wishes: DeviceWishes) async throws(AddRefusal) -> AddedDevice
}

/// Why a device cannot be found or added, for a person, with what to do.
package struct AddRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

/// One of several drivers or models.
package struct AddChoice: Sendable, Hashable {
    package var value: String
    package var name: String

    package init(_ value: String, _ name: String) { (self.value, self.name) = (value, name) }
}

/// What a person wants of a device.
package struct DeviceWishes: Sendable, Hashable {
    package var driver: String
    /// Keys of `transport:`, with `type` first.
    package var transport: [ScanReport.Option]
    package var options: [ScanReport.Option]
    /// `nil`: made from the name.
    package var id: String?
    package var name: String?
    package var person: String?

    package init(
        driver: String, transport: [ScanReport.Option] = [], options: [ScanReport.Option] = [], id: String? = nil,
        name: String? = nil, person: String? = nil
    ) {
        self.driver = driver
        self.transport = transport
        self.options = options
        self.id = id
        self.name = name
        self.person = person
    }
}

/// An entry as it would be written.
package struct CheckedDevice: Sendable, Hashable {
    package var id: String
    package var name: String
    /// In YAML.
    package var text: String
    /// The file; empty if none can be written.
    package var file: String
    /// What keeps it from being written, each a sentence, perhaps behind a path and a colon.
    package var issues: [String]
    /// Whether the device asks for a passkey when it is first connected.
    package var willPair: Bool

    package init(id: String, name: String, text: String, file: String, issues: [String], willPair: Bool = false) {
        self.id = id
        self.name = name
        self.text = text
        self.file = file
        self.issues = issues
        self.willPair = willPair
    }
}

/// A device that was written.
package struct AddedDevice: Sendable, Hashable {
    package var id: DeviceID
    package var name: String
    /// What a phone needs to push; `nil` for another device.
    package var access: PhoneAccess?

    package init(id: DeviceID, name: String, access: PhoneAccess? = nil) {
        self.id = id
        self.name = name
        self.access = access
    }
}

/// What a phone needs to push. It is shown once: the token stands in its file and nowhere else.
package struct PhoneAccess: Sendable, Hashable {
    /// The app's name.
    package var app: String
    /// What to do in it.
    package var steps: [String]
    /// Where the phone posts; `nil` if no address is known by which a phone reaches the gateway.
    package var address: String?
    package var token: String
    package var way = Way.post

    /// How an app brings what it has.
    package enum Way: Sendable, Hashable {
        /// It posts documents.
        case post
        /// It calls a listener over TCP, and says device and token in its first line; `nil` if no phone reaches that listener.
        case call(Port?)
    }

    /// The port of that listener.
    package struct Port: Sendable, Hashable {
        package var number: Int
        package var isEncrypted: Bool

        package init(number: Int, isEncrypted: Bool) { (self.number, self.isEncrypted) = (number, isEncrypted) }
    }

    package init(app: String, steps: [String], address: String?, token: String) {
        self.app = app
        self.steps = steps
        self.address = address
        self.token = token
    }
}

/// What is in the folder for exports of phones.
package struct FoundExports: Sendable, Hashable {
    /// A file.
    package struct File: Sendable, Hashable {
        package var name: String
        /// What it is.
        package var about: String
        package var devices: [Device]

        package init(name: String, about: String, devices: [Device]) {
            self.name = name
            self.about = about
            self.devices = devices
        }
    }

    /// What may become a device.
    package struct Device: Sendable, Hashable {
        package var name: String
        /// What it has.
        package var about: String
        /// What matters for its entry.
        package var remark: String?
        package var wishes: DeviceWishes

        package init(name: String, about: String, remark: String?, wishes: DeviceWishes) {
            self.name = name
            self.about = about
            self.remark = remark
            self.wishes = wishes
        }
    }

    package var folder: String
    package var files: [File]
    package var problem: String?

    package init(folder: String, files: [File], problem: String? = nil) {
        self.folder = folder
        self.files = files
        self.problem = problem
    }
}
