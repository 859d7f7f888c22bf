import NIOCore
package import NIOSSL

extension ListenOptions.TLS {
    /// What a server needs to show this certificate: TLS 1.2 or newer.
    /// - Throws: `ListenError` if the files cannot be read or do not belong together.
    package func serverContext() throws(ListenError) -> NIOSSLContext { try server().context }

    /// The settings of such a server, for a library that makes the context by itself.
    /// - Throws: `ListenError` if the files cannot be read or do not belong together.
    package func serverConfiguration() throws(ListenError) -> TLSConfiguration { try server().configuration }

    private func server() throws(ListenError) -> (configuration: TLSConfiguration, context: NIOSSLContext) {
        do {
            let chain = try NIOSSLCertificate.fromPEMFile(certificate).map { NIOSSLCertificateSource.certificate($0) }
            let key = try NIOSSLPrivateKey(file: key, format: .pem)
            var configuration = TLSConfiguration.makeServerConfiguration(
                certificateChain: chain, privateKey: .privateKey(key))
            configuration.minimumTLSVersion = .tlsv12
            // A caller that is asleep must not hold up a stop: it need not confirm the end.
            configuration.shutdownTimeout = .milliseconds(500)
            // It finds a key of another certificate now, and not with the first device.
            return (configuration, try NIOSSLContext(configuration: configuration))
        } catch {
            throw ListenError(
                "The certificate \(certificate) and the key \(key) cannot be used. Are both in PEM format, and do they belong "
                    + "together? (\(error))")
        }
    }
}

/// A certificate and a private key, as files in PEM format.
package struct KeyPair: Sendable {
    private let certificate: String
    private let key: String

    package init(certificate: String, key: String) {
        self.certificate = certificate
        self.key = key
    }

    /// Whether the key certainly belongs to another certificate. What cannot be read, or is of a kind that this library does
    /// not know, is not checked here.
    package var isMismatched: Bool {
        guard let chain = try? NIOSSLCertificate.fromPEMFile(certificate), let leaf = chain.first,
            let key = try? NIOSSLPrivateKey(file: key, format: .pem)
        else { return false }
        var alone = TLSConfiguration.makeClientConfiguration()
        alone.trustRoots = .certificates([])
        var certificateAlone = alone
        var together = alone
        alone.privateKey = .privateKey(key)
        certificateAlone.certificateChain = [.certificate(leaf)]
        together.privateKey = alone.privateKey
        together.certificateChain = certificateAlone.certificateChain
        return Self.isAccepted(alone) && Self.isAccepted(certificateAlone) && !Self.isAccepted(together)
    }

    private static func isAccepted(_ configuration: TLSConfiguration) -> Bool {
        (try? NIOSSLContext(configuration: configuration)) != nil
    }
}
