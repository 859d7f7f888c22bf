package import GatewayKit

/// The keys of a service that listens: `listen`, `tls` and `insecure`.
package struct ListenOptions: Sendable, Hashable {
    /// The files of `tls: {certificate: …, key: …}`, in PEM format.
    package struct TLS: Sendable, Hashable {
        /// The service's certificate, followed by those of the authorities between it and a trusted one.
        package var certificate: String
        /// The private key of the certificate.
        package var key: String
    }

    /// `listen`: where it listens.
    package var address: ListenAddress
    /// `tls`: the certificate that it shows, or `nil` without encryption.
    package var tls: TLS?
}

extension ConfigurationReader {
    /// Reads `listen`, `tls` and `insecure`. Beyond this machine, secrets and health values need encryption, or the explicit
    /// `insecure: true`.
    package mutating func listenOptions(default: String) -> ListenOptions {
        let text = string("listen", default: `default`, about: "The IP address and port at which it listens.")
        let address = ListenAddress(text)
        if address == nil {
            report(
                "An IP address and a port are needed here, such as 127.0.0.1:8480, [::1]:8480 or, for all addresses of this "
                    + "machine, 0.0.0.0:8480.", at: "listen")
        }
        let tls =
            has("tls")
            ? section("tls", about: "Required to listen beyond this machine, unless insecure.") { $0.tlsFiles() } : nil
        let isInsecure = flag("insecure", default: false, about: "Whether it listens beyond this machine without TLS.")
        if let address, !address.isLoopback, tls == nil, !isInsecure {
            report(
                "Every program in the network could read secrets and health values. Add tls: {certificate: …, key: …}; or, if "
                    + "something else protects the way, insecure: true.", at: "listen")
        }
        return ListenOptions(address: address ?? ListenAddress(`default`) ?? .unusable, tls: tls)
    }

    private mutating func tlsFiles() -> ListenOptions.TLS {
        let certificate = pemFile("certificate", about: "The certificate that devices see.")
        let key = pemFile("key", isSecret: true, about: "The certificate's private key.")
        if certificate == nil { report("certificate is missing; the path of a PEM file is needed here.") }
        if key == nil { report("key is missing; the path of a PEM file is needed here.") }
        reportUnusable(
            certificate: (name: "certificate", path: certificate), key: (name: "key", path: key), isRead: true)
        return ListenOptions.TLS(certificate: certificate ?? "", key: key ?? "")
    }

    /// Reports a file without a certificate, or with one that cannot be read.
    /// - Parameters:
    ///   - certificate: its key in the configuration, and its path.
    ///   - isRead: whether this library reads it, so that what it cannot read is an error, too.
    package mutating func reportUnusable(certificate: (name: String, path: String?), isRead: Bool) {
        guard let issue = certificate.path.flatMap({ PEMFile($0) })?.certificateIssue(isRead: isRead) else {
            return
        }
        report(issue, at: certificate.name)
    }

    /// Reports a file without a certificate or without a private key, a key with a passphrase, and one that belongs to another
    /// certificate.
    /// - Parameters:
    ///   - certificate: the certificate's key in the configuration, and its path.
    ///   - key: the private key's key in the configuration, and its path.
    ///   - isRead: whether this library reads them, so that what it cannot read is an error, too.
    package mutating func reportUnusable(
        certificate: (name: String, path: String?), key: (name: String, path: String?), isRead: Bool
    ) {
        let before = issues.count
        reportUnusable(certificate: certificate, isRead: isRead)
        if let issue = key.path.flatMap({ PEMFile($0) })?.keyIssue(isRead: isRead) { report(issue, at: key.name) }
        guard issues.count == before, let certificate = certificate.path, let path = key.path,
            KeyPair(certificate: certificate, key: path).isMismatched
        else { return }
        report("\(path) is not the key of \(certificate). Set the files that were made together.", at: key.name)
    }
}

extension ListenAddress {
    /// A stand-in after an error of the configuration.
    fileprivate static let unusable = ListenAddress(host: "127.0.0.1", port: 0)

    private init(host: String, port: Int) {
        self.host = host
        self.port = port
    }
}
